/**
 * Footnotes: `[^1]` and `[^1]: text`, as marked extensions. A note stands where it is written, so that what is shown of a growing text
 * never moves; models write notes at the end anyway. What no note belongs to stays as it is written.
 */

import { escaped } from "./safe_html.js";

/** @import {Token, TokenizerAndRendererExtension} from "marked" */

const LABEL = String.raw`\[\^([^\]\s^]{1,80})\]`;
const REFERENCE = new RegExp(String.raw`^${LABEL}(?!\()`);
/** Lines that belong to a note: indented, also below an empty one, or going on without a sign of another block. */
const MORE = String.raw`(?:\n(?:[ \t]*\n)*(?: {2}|\t)(?=[^\n]*\S)[^\n]*|\n(?! {0,3}(?:\[\^|[-*+>#|~]|\x60{3}|\d{1,9}[.)]))(?=[^\n]*\S)[^\n]*)*`;
const NOTE = new RegExp(String.raw`^ {0,3}${LABEL}:[ \t]*([^\n]*${MORE})(?:\n|$)`);
const NOTES = new RegExp(String.raw`^ {0,3}${LABEL}:`, "gm");
const NOTE_BEGINS = new RegExp(String.raw`\n {0,3}${LABEL}:`);
/** What is taken for a reference before its note is written. */
const NUMBER = /^\d{1,3}$/;

/** @type {TokenizerAndRendererExtension} */
export const footnoteReference = {
  name: "footnote_reference",
  level: "inline",
  start: (src) => (src.includes("[^") ? src.indexOf("[^") : undefined),
  tokenizer(src) {
    const found = REFERENCE.exec(src);
    return found && !this.lexer.state.inLink
      ? { type: "footnote_reference", raw: found[0], label: found[1], isWritten: false }
      : undefined;
  },
  renderer: ({ raw, label, isWritten }) =>
    isWritten ? escaped(raw) : `<sup class="footnote-reference">${escaped(label)}</sup>`,
};

/** @type {TokenizerAndRendererExtension} */
export const footnote = {
  name: "footnote",
  level: "block",
  childTokens: ["tokens"],
  start: (src) => NOTE_BEGINS.exec(src)?.index,
  tokenizer(src) {
    const found = NOTE.exec(src);
    if (!found) return undefined;
    const [raw, label, text] = found;
    return { type: "footnote", raw, label, tokens: this.lexer.blockTokens(text.replace(/\n(?: {1,4}|\t)/g, "\n"), []) };
  },
  renderer({ label, tokens }) {
    return `<div class="footnote"><sup class="footnote-mark">${escaped(label)}</sup><div>${this.parser.parse(tokens)}</div></div>\n`;
  },
};

/** The labels of all notes. @param {string} source @returns {Set<string>} */
export function footnoteLabels(source) {
  return new Set(source.includes("[^") ? Array.from(source.matchAll(NOTES), ([, label]) => label.toLowerCase()) : []);
}

/**
 * Has references without a note shown as they are written; such a block is another one than before.
 * @param {Token[]} tokens changed in place @param {Set<string>} labels @param {boolean} isLive notes may follow
 * @param {(tokens: Token[], visit: (token: any) => void) => void} walk
 */
export function showUndefined(tokens, labels, isLive, walk) {
  for (const block of /** @type {any[]} */ (tokens)) {
    if (!block.raw.includes("[^")) continue;
    walk([block], (token) => {
      if (
        token.type !== "footnote_reference" ||
        labels.has(token.label.toLowerCase()) ||
        (isLive && NUMBER.test(token.label))
      )
        return;
      token.isWritten = block.hasWritten = true;
    });
  }
}
