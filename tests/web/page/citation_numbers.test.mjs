import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { countedFromOne, withPlaces } from "../../../web/static/chat/state/answer_text.js";

const cases = JSON.parse(readFileSync(new URL("../../chat/transcript/citation_places.json", import.meta.url), "utf8"));
const SOURCES = [1, 2, 3].map((number) => ({ number, title: `T${number}`, url: "" }));
SOURCES.push(
  { number: 75, title: "File", url: "/files/75" },
  { number: 76, title: "Web", url: "https://a.example/76" },
);

for (const [text, shown, cited] of cases) {
  test(`sources are counted from 1 where a text cites them, and nowhere else: ${text}`, () => {
    assert.equal(withPlaces(text, SOURCES), shown);
    assert.deepEqual(
      countedFromOne(text, SOURCES)
        .slice(0, cited.length)
        .map(({ number }) => number),
      cited,
    );
  });
}

test("a source that the text does not cite comes last", () => {
  assert.deepEqual(
    countedFromOne("Only [2].", SOURCES.slice(0, 3)).map(({ number, place }) => [number, place]),
    [
      [2, 1],
      [1, 2],
      [3, 3],
    ],
  );
});
