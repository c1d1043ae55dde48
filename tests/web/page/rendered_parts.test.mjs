import assert from "node:assert/strict";
import { test } from "node:test";

import highlighter from "../../../node_modules/@highlightjs/cdn-assets/es/highlight.min.js";
import { fileName, csvOf, tabbedOf } from "../../../web/static/chat/markdown/exports.js";
import { parseLines } from "../../../web/static/chat/markdown/highlighted_lines.js";
import { plainLines } from "../../../web/static/chat/markdown/code_lines.js";
import { completeTex } from "../../../web/static/chat/markdown/unfinished_markdown.js";

const CODES = {
  python: 'def f(x: int = 1) -> str:\n    """Two\n    lines."""\n    return f"{x} <b>&amp;</b>"\n',
  javascript: "const a = `one\n${two}`; /* three\nfour */ a < b && c;",
  xml: '<p class="x">&lt;script&gt;</p>\n<script>let a = 1;\n</script>\n',
  diff: "- old\n+ new\n",
};

const text = (lines) => lines.flatMap(({ runs }) => runs.map(([, part]) => part)).join("");

for (const [language, code] of Object.entries(CODES)) {
  test(`coloured lines are the code, character by character: ${language}`, () => {
    const lines = parseLines(highlighter.highlight(code, { language }).value);
    assert.equal(text(lines), code);
    assert.equal(lines.length, code.split("\n").length);
    assert.ok(lines.slice(0, -1).every(({ runs }) => runs.at(-1)[1].endsWith("\n")));
    assert.ok(lines.some(({ runs }) => runs.some(([kind]) => kind !== "")));
    assert.equal(text(plainLines(code)), code);
  });
}

test("a line in which something begins that goes on is not whole", () => {
  const lines = parseLines(highlighter.highlight(CODES.python, { language: "python" }).value);
  assert.deepEqual(lines.map(({ isWhole }) => isWhole).slice(0, 3), [true, false, true]);
});

for (const [open, closed] of [
  ["\\frac{a}{b", "\\frac{a}{b}"],
  ["\\left( \\frac{1", "\\left( \\frac{1}\\right."],
  ["\\begin{aligned} a &= b \\\\ c", "\\begin{aligned} a &= b \\\\ c\\end{aligned}"],
  ["x^", "x"],
  ["x + \\fra", "x + "],
  ["\\{ a", "\\{ a"],
  ["\\begin{ali", ""],
]) {
  test(`open TeX is closed: ${open}`, () => assert.equal(completeTex(open), closed));
}

for (const [language, name] of [
  ["python", "answer.py"],
  ["C++", "answer.cpp"],
  ["bash", "answer.sh"],
  ["Dockerfile", "Dockerfile"],
  ["", "answer.txt"],
  ["exe", "answer.txt"],
  ["../../x", "answer.txt"],
  ["constructor", "answer.txt"],
]) {
  test(`code is downloaded under a name by its language: ${language || "none"}`, () =>
    assert.equal(fileName(language), name));
}

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
