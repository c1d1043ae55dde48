/**
 * Formulas in Markdown: `$…$`, `$$…$$`, `\(…\)`, `\[…\]` and bare environments, as marked extensions. They produce
 * an element with the TeX as its text, which formula.js typesets. A dollar sign of an amount stays text.
 */

import { OPEN } from "./unfinished_markdown.js";

const BODY = String.raw`(?:(?!\n[ \t]*\n)[\s\S])+?`;
/** What brackets hold that are not merely escaped: a command, an index, an operator. */
const IN_BRACKETS = String.raw`(?:(?!\n[ \t]*\n|\\\])[\s\S])*?(?:\\[^\]]|[\^_=]|\s[-+*/<>]\s)(?:(?!\n[ \t]*\n)[\s\S])*?`;
const BLOCK = new RegExp(
  String.raw`^ {0,3}(?:\$\$(${BODY})\$\$|\\\[(${BODY})\\\]|(\\begin\{([a-z]+\*?)\}${BODY}\\end\{\4\}))[ \t]*(?:\n|$)`,
);
const BLOCK_BEGINS = /\n {0,3}(?:\$\$|\\\[|\\begin\{)/;
const DISPLAYED = new RegExp(String.raw`^(?:\$\$((?:\\[\s\S]|[^\\$])+?)\$\$|\\\[(?=${IN_BRACKETS}\\\])(${BODY})\\\])`);
const INLINE = new RegExp(
  String.raw`^(?:\$(?![\s$])((?:\\[^\n]|[^\\$\n])*?(?:\\[^\n]|[^\s\\$]))\$(?![\w$])|\\\((${BODY})\\\))`,
);
const MONEY = /^\d[^\\^_={}]*\s[a-z]{2,}/i;

/** @param {string[]} found a match whose groups hold the TeX @param {boolean} isDisplayed */
const formula = (found, isDisplayed) => ({
  type: "formula",
  raw: found[0],
  tex: found.slice(1).find(Boolean),
  isDisplayed,
});

/** @type {import("marked").TokenizerAndRendererExtension} */
export const blockFormula = {
  name: "block_formula",
  level: "block",
  start: (src) => BLOCK_BEGINS.exec(src)?.index,
  tokenizer(src) {
    const found = BLOCK.exec(src);
    return found ? { ...formula(found.slice(0, 4), true), type: "block_formula" } : undefined;
  },
  renderer: ({ tex }) => `<div class="math display${openClass(tex)}">${escapedTex(tex)}</div>`,
};

/** @type {import("marked").TokenizerAndRendererExtension} */
export const inlineFormula = {
  name: "formula",
  level: "inline",
  start: (src) => /\$|\\[([]/.exec(src)?.index,
  tokenizer(src) {
    const displayed = DISPLAYED.exec(src);
    if (displayed) return formula(displayed, true);
    const found = INLINE.exec(src);
    return found && !MONEY.test(found[1] ?? "") ? formula(found, false) : undefined;
  },
  renderer: ({ tex, isDisplayed }) =>
    `<span class="math${isDisplayed ? " display" : ""}${openClass(tex)}">${escapedTex(tex)}</span>`,
};

/** @param {string} tex */
const openClass = (tex) => (tex.includes(OPEN) ? " open" : "");

/** @param {string} tex */
const escapedTex = (tex) =>
  tex
    .replace(OPEN, "")
    .trim()
    .replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
