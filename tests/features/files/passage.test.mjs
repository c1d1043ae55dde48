/** Where a passage stands in a document's text, and which of its sentences a statement of an answer rests on. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { findPassage, pageAt, closestSentence } from "../../../features/files/static/chat/files/passage.js";

const found = (text, passage) => {
  const at = findPassage(text, passage);
  return at && text.slice(at.from, at.to);
};

test("a passage is found where the server says it starts, although characters of two units stand before it", () => {
  const text = "🌊🌊 The tide. The tide.";
  assert.deepEqual(findPassage(text, { text: "The tide.", start: 13 }), { from: 15, to: 24 });
});

test("a passage is found by its words, however they are spaced and where the document has changed since", () => {
  const text = "# Sea\n\nThe flood  reaches\nHusum at noon. The ebb follows.";
  assert.equal(found(text, { text: "The flood reaches Husum at noon." }), "The flood  reaches\nHusum at noon.");
  assert.equal(
    found(text, { text: "The flood reaches Husum at noon.", start: 40 }),
    "The flood  reaches\nHusum at noon.",
  );
  assert.equal(found(text, { text: "The flood reaches Husum at noo" }), "The flood  reaches\nHusum at noo");
});

test("of a passage whose beginning is known, all is marked", () => {
  const text = "🌊 First. The flood reaches Husum at noon. The ebb follows. Last.";
  const passage = { text: "The flood reaches", start: 9, length: 49 };
  assert.equal(found(text, passage), "The flood reaches Husum at noon. The ebb follows.");
  assert.equal(found(text, { ...passage, length: 900 }), text.slice(10));
  const spaced = "The flood\n reaches Husum. The ebb follows. Last.";
  assert.equal(
    found(spaced, { text: "The flood reaches Hu", start: 0, length: 42 }),
    "The flood\n reaches Husum. The ebb follows.",
  );
});

test("where the text has changed since, what is known of the passage is marked and nothing else", () => {
  const text = "New beginning. The flood reaches Husum at noon. Something else.";
  assert.equal(found(text, { text: "The flood reaches Husum", start: 0, length: 40 }), "The flood reaches Husum");
});

test("the same words elsewhere are not taken for the passage", () => {
  const text = "Water level: 4 m on Monday. Water level: 4 m on Tuesday.";
  assert.deepEqual(findPassage(text, { text: "Water level: 4 m", start: 28, length: 28 }), { from: 28, to: 56 });
});

test("a passage is on the page that form feeds count, and texts without any have none", () => {
  const text = "one\n\f\ntwo\n\f\nthree";
  assert.deepEqual(
    ["one", "two", "three"].map((word) => pageAt(text, text.indexOf(word))),
    [1, 2, 3],
  );
  assert.equal(pageAt("one two", 4), null);
});

test("what the document does not hold is not found, and neither are a few words of it", () => {
  const text = "The flood reaches Husum at noon.";
  assert.equal(found(text, { text: "The flood reaches Hallig" }), null);
  assert.equal(found(text, { text: "" }), null);
});

test("signs in a passage are taken as they are", () => {
  assert.equal(found("a (b) [c] \\d* 1+1=2?", { text: "(b) [c] \\d* 1+1=2?" }), "(b) [c] \\d* 1+1=2?");
});

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
