import assert from "node:assert/strict";
import { test } from "node:test";

import { matchParts } from "../../../web/static/chat/conversation/search_marks.js";

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
