/** Texts that are shortened to one line. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { shortened } from "../../../web/static/chat/composer/message_sender.js";

test("a text that is cut ends with a whole word and says so", () => {
  assert.equal(shortened("How often is low water?", 23), "How often is low water?");
  assert.equal(shortened("How often is low water at Husum?", 20), "How often is low…");
  assert.equal(shortened("How often is low water?", 13), "How often is…");
});

test("words that are longer than half of the place are cut, and no character is", () => {
  assert.equal(shortened("Donaudampfschifffahrt", 10), "Donaudamp…");
  assert.equal(shortened("🌊".repeat(20), 8), "🌊🌊🌊…");
});
