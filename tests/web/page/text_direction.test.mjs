/** In which direction a block of an answer is read. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { directionOf } from "../../../web/static/chat/elements/visible_text.js";

test("a text is read in the direction of its letters, whatever word it begins with", () => {
  assert.equal(directionOf("\u0645\u0631\u062d\u0628\u0627 1."), "rtl");
  assert.equal(directionOf("Python \u0644\u063a\u0629 \u0628\u0631\u0645\u062c\u0629 \u0633\u0647\u0644\u0629"), "rtl");
  assert.equal(directionOf("\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd React"), "rtl");
  assert.equal(directionOf("\u05e9\u05dc\u05d5\u05dd is what one says in Hebrew when one meets a friend."), "ltr");
  assert.equal(directionOf("In English, or \u4e2d\u6587."), "ltr");
});

test("a text without letters has none of its own", () => {
  assert.equal(directionOf("1.5 – 2 😀"), null);
  assert.equal(directionOf(""), null);
});
