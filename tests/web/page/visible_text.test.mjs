import assert from "node:assert/strict";
import { test } from "node:test";

import { visibleParts, visibleText, directionOf } from "../../../web/static/chat/elements/visible_text.js";

const kept = (text) => assert.deepEqual(visibleParts(text), [{ text, isEscape: false }]);

test("what turns the direction, or is not seen, is written as an escape", () => {
  assert.equal(visibleText("pay \u202e001\u202c to"), "pay \\u202e001\\u202c to");
  for (const hidden of [
    "\u2066",
    "\u2069",
    "\u200e",
    "\u200f",
    "\u061c",
    "\u200b",
    "\u2060",
    "\ufeff",
    "\u00ad",
    "\u3164",
    "\u0000",
    "\u001b",
    "\r",
    "\u007f",
    "\u2028",
  ]) {
    assert.equal(visibleText(`a${hidden}b`), `a\\u${hidden.charCodeAt(0).toString(16).padStart(4, "0")}b`);
  }
  assert.equal(visibleText("a\ud800b"), "a\\ud800b");
});

test("tags and variants in which a text can be hidden are written as escapes", () => {
  const hidden = [..."all"].map((letter) => String.fromCodePoint(0xe0000 + letter.codePointAt(0))).join("");
  assert.deepEqual(
    visibleParts(`a${hidden}`).map(({ isEscape }) => isEscape),
    [false, true],
  );
  assert.ok(visibleText(`\u{1f3f4}${hidden}\u{e007f}`).includes("\\udb40"));
  assert.equal(visibleText("a\ufe01\ufe0f"), "a\\ufe01\\ufe0f");
  assert.equal(visibleText("a\u200db\u200cc"), "a\\u200db\\u200cc");
});

test("texts of all scripts, lines and emoji stay as they are", () => {
  for (const text of [
    "مرحبا بالعالم",
    "می‌خواهم",
    "שלום עולם",
    "क्‍ष",
    "ക്‍",
    "葛\u{e0100}城",
    "zwei\nZeilen\tweit",
    "naïve café",
    "👨‍👩‍👧‍👦",
    "🏳️‍🌈",
    "👩🏽‍🚀",
    "❤️",
    "1️⃣",
    "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
    "🇮🇹",
  ])
    kept(text);
});

test("JSON with escapes has the same values", () => {
  const value = { to: "\u202emoc.liam@ecila", note: "a\u{e0061}\u200bb", "k\u2066": ["👨‍👩‍👧", "\ud800"] };
  assert.deepEqual(JSON.parse(visibleText(JSON.stringify(value, null, 2))), value);
});

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
