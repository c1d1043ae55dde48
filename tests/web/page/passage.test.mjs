/** Where a passage stands in a document's text. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { findPassage } from "../../../web/static/chat/files/passage.js";

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
  assert.equal(found(text, { text: "The flood reaches Husum at noon.", start: 40 }), "The flood  reaches\nHusum at noon.");
  assert.equal(found(text, { text: "The flood reaches Husum at noo" }), "The flood  reaches\nHusum at noo");
});

test("what the document does not hold is not found, and neither are a few words of it", () => {
  const text = "The flood reaches Husum at noon.";
  assert.equal(found(text, { text: "The flood reaches Hallig" }), null);
  assert.equal(found(text, { text: "" }), null);
});

test("signs in a passage are taken as they are", () => {
  assert.equal(found("a (b) [c] \\d* 1+1=2?", { text: "(b) [c] \\d* 1+1=2?" }), "(b) [c] \\d* 1+1=2?");
});
