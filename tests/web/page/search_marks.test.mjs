import assert from "node:assert/strict";
import { test } from "node:test";

import { matchesIn } from "../../../web/static/chat/conversation/search_marks.js";
import { isOnCurrentBranch } from "../../../web/static/chat/state/branch_pages.js";

const marked = (text, query) => matchesIn(text, query).map(([from, to]) => text.slice(from, to));

test("words and beginnings of words are marked, in any case", () => {
  assert.deepEqual(marked("The Moon, moonlight and a honeymoon", "moon"), ["Moon", "moon"]);
  assert.deepEqual(marked("süßer Übermut", "SÜß über"), ["süß", "Über"]);
});

test("the longer of two words with the same beginning is marked whole", () => {
  assert.deepEqual(marked("tidal tide", "tid tidal"), ["tidal", "tid"]);
});

test("what means something in a pattern is a text like others", () => {
  assert.deepEqual(marked("a.b state-of-the-art (x) axb", "a.b state-of-the-art !!! (x"), ["a.b", "state-of-the-art", "(x"]);
  assert.deepEqual(marked("anything", "* "), []);
  assert.deepEqual(marked("anything", ""), []);
});

test("scripts without spaces are marked where they stand", () => {
  assert.deepEqual(marked("全粒小麦粉 小麦", "小麦"), ["小麦", "小麦"]);
});

test("a message is on the current branch if every parent shows the way to it", () => {
  const node = (id, parent, latest_child) => ({ id, parent, latest_child });
  const nodes = [node("root", null, "b"), node("a", "root", null), node("b", "root", "c"), node("c", "b", null)];
  assert.deepEqual(["a", "b", "c", "x"].map((id) => isOnCurrentBranch(nodes, id)), [false, true, true, false]);
});
