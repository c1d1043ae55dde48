/** Which sentence of a passage a statement of an answer rests on. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { closestSentence } from "../../../features/files/static/chat/files/passage.js";

const closest = (passage, statement) => {
  const at = closestSentence(passage, statement);
  return at && passage.slice(at.from, at.to);
};

const TIDES =
  "# Husum\n\nThe flood reaches Husum at noon. The ebb follows six hours later. At spring tide the flood is 3.9 metres high.";

test("the sentence that shares the statement's words is found, whatever their order and case", () => {
  assert.equal(closest(TIDES, "At noon the Flood is in Husum"), "The flood reaches Husum at noon.");
  assert.equal(closest(TIDES, "The ebb follows six hours after that."), "The ebb follows six hours later.");
});

test("a number says more than words that all sentences have", () => {
  const pumps = [
    "The pressure of the pump Amber is 101 bar.",
    "The pressure of the pump Birch is 102 bar.",
    "The pressure of the pump Cedar is 103 bar.",
  ];
  for (const [n, sentence] of pumps.entries())
    assert.equal(closest(pumps.join(" "), `Its pressure: ${101 + n} bar`), sentence);
});

test("only the last sentence before the citation counts", () => {
  assert.equal(
    closest(TIDES, "The flood reaches Husum at noon. At spring tide it is 3.9 metres high."),
    "At spring tide the flood is 3.9 metres high.",
  );
});

test("a sentence goes on where a line of a PDF ends, and ends where a short line does", () => {
  const lines =
    "Rules of the works\nThe valve is closed before the\nPump is started in the morning.\nIt is opened at night.";
  assert.equal(
    closest(lines, "Close the valve before the pump is started"),
    "The valve is closed before the\nPump is started in the morning.",
  );
});

test("a statement that shares no words, or one only, has no sentence", () => {
  assert.equal(closest(TIDES, "Der Mond zieht am Wasser"), null);
  assert.equal(closest(TIDES, "The flood was a surprise to the whole town"), null);
  assert.equal(closest(TIDES, ""), null);
  assert.equal(closest("", "The flood"), null);
});

test("texts without spaces between words have sentences too", () => {
  const text = "洪水在中午到达胡苏姆。六小时后退潮。大潮时水位高达3.9米。";
  assert.equal(closest(text, "大潮的水位是3.9米"), "大潮时水位高达3.9米。");
});
