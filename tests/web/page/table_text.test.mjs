import assert from "node:assert/strict";
import { test } from "node:test";

import { csvOf, tabbedOf } from "../../../web/static/chat/markdown/exports.js";

test("cells of CSV are quoted where RFC 4180 asks for it", () => {
  const rows = [
    ["Port", "High, low"],
    ['the "old" one', "two\nlines"],
    ["Köln", ""],
  ];
  assert.equal(csvOf(rows), 'Port,"High, low"\r\n"the ""old"" one","two\nlines"\r\nKöln,');
});

test("a cell that is pasted is in one line and column", () => {
  assert.equal(
    tabbedOf([
      ["a\tb", "two\nlines"],
      ["c", "d"],
    ]),
    "a b\ttwo lines\nc\td",
  );
});

test("what a spreadsheet would calculate is text, and a number stays a number", () => {
  const formulas = ["=HYPERLINK(A1)", "@SUM(A1)", "+1+cmd|x", "-A1"];
  assert.deepEqual(
    csvOf(formulas.map((cell) => [cell])).split("\r\n"),
    formulas.map((cell) => `'${cell}`),
  );
  const numbers = ["-5", "+4.2 %", "-1,000.5", "-"];
  assert.deepEqual(tabbedOf(numbers.map((cell) => [cell])).split("\n"), numbers);
});
