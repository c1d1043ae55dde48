import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { matchesIn, normalForm, matchParts } from "../../../web/static/chat/conversation/search_marks.js";
import { isOnCurrentBranch } from "../../../web/static/chat/state/branch.js";

const marked = (text, query) => matchesIn(text, query).map(([from, to]) => text.slice(from, to));

test("words and beginnings of words are marked, in any case", () => {
  assert.deepEqual(marked("The Moon, moonlight and a honeymoon", "moon"), ["Moon", "moon"]);
  assert.deepEqual(marked("süßer Übermut", "SÜß über"), ["süß", "Über"]);
});

test("the longer of two words with the same beginning is marked whole", () => {
  assert.deepEqual(marked("tidal tide", "tid tidal"), ["tidal", "tid"]);
});

test("what means something in a pattern is a text like others", () => {
  assert.deepEqual(marked("a.b state-of-the-art (x) axb", "a.b state-of-the-art !!! (x"), [
    "a.b",
    "state-of-the-art",
    "(x",
  ]);
  assert.deepEqual(marked("anything", "* "), []);
  assert.deepEqual(marked("anything", ""), []);
});

test("scripts without spaces are marked where they stand", () => {
  assert.deepEqual(marked("全粒小麦粉 小麦", "小麦"), ["小麦", "小麦"]);
});

test("every spelling is marked, as it is written", () => {
  assert.deepEqual(marked("Das Cafe\u0301 in Zu\u0308rich", "Z\u00fcrich"), ["Zu\u0308rich"]);
  assert.deepEqual(marked("Gen\u00e8ve", "Gene\u0300ve"), ["Gen\u00e8ve"]);
  assert.deepEqual(marked("修改youer服务端的计划", "youer"), ["youer"]);
  assert.deepEqual(marked("修改youer服务端的计划", "ＹＯＵＥＲ服务"), ["youer服务"]);
  assert.deepEqual(marked("the of\ufb01ce, of\ufb01cers", "office"), ["of\ufb01ce", "of\ufb01ce"]);
  assert.deepEqual(marked("ＡＰＩ　ｖ２ xapi", "api V2"), ["ＡＰＩ", "ｖ２"]);
  assert.deepEqual(marked("ﾃﾞｰﾀﾍﾞｰｽ", "データ"), ["ﾃﾞｰﾀ"]);
  assert.deepEqual(marked("Straße", "STRASSE"), ["Straße"]);
  assert.deepEqual(marked("\u1112\u1161\u11ab\u1100\u1173\u11af", "한글"), ["\u1112\u1161\u11ab\u1100\u1173\u11af"]);
  assert.deepEqual(marked("서울에서api를", "api 에서"), ["에서", "api"]);
  assert.deepEqual(marked("😀 don＇t", "don't"), ["don＇t"]);
});

test("the normal form is the one of the server", () => {
  const cases = JSON.parse(readFileSync(new URL("../../knowledge/texts/normal_forms.json", import.meta.url), "utf-8"));
  for (const [text, form] of cases) assert.equal(normalForm(text), form);
});

test("a message is on the current branch if every parent shows the way to it", () => {
  const node = (id, parent, latest_child) => ({ id, parent, latest_child, role: parent ? "user" : "root" });
  const nodes = [node("root", null, "b"), node("a", "root", null), node("b", "root", "c"), node("c", "b", null)];
  assert.deepEqual(
    ["a", "b", "c", "x"].map((id) => isOnCurrentBranch(nodes, id)),
    [false, true, true, false],
  );
});

const shown = (match, query) =>
  matchParts(match, query)
    .map(({ text, isFound }) => (isFound ? `<${text}>` : text))
    .join("");

test("the words that were found are marked, and stand near the beginning", () => {
  assert.equal(shown("the zebra stands", "zebra"), "the <zebra> stands");
  assert.equal(
    shown("line 1200 line 1200 line 1200 line 1200 the zebra stands", "zeb"),
    "…line 1200 the <zeb>ra stands",
  );
  assert.equal(shown("nothing of it", "zebra"), "nothing of it");
  assert.equal(shown("", "zebra"), "");
});

for (const [written, read] of [
  ["the **zebra** and `code`", "the <zebra> and code"],
  ["# Zoo > quoted | zebra |", "Zoo quoted <zebra>"],
  ["see [the zebra](https://zoo.example/a) now", "see the <zebra> now"],
  ["| animal | |---|---| | zebra |", "animal <zebra>"],
  ["a snake_case zebra, 2 * 3 and *so* on", "a snake_case <zebra>, 2 * 3 and so on"],
])
  test(`Markdown is not shown raw: ${written}`, () => assert.equal(shown(written, "zebra"), read));
