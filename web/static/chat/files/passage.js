/** Where a passage stands in the text of a document, and on which page. Pure. */

/**
 * @typedef {object} Passage
 * @property {string} text  its words, or the first of them
 * @property {number} [start]  in characters of the document's text, where it is known
 * @property {number} [length]  of the whole passage, where `text` may be its beginning only
 * @property {string} [statement]  that rests on a sentence of it
 */
/** @typedef {{from: number, to: number}} Place  UTF-16 offsets */

const CHARACTER_OF_TWO_UNITS = /[\ud800-\udbff][\udc00-\udfff]/;
/** Fewer words are found by accident. */
const LEAST_WORDS = 4;
export const PAGE_BREAK = "\f";

/** @param {string} text @param {Passage} passage @returns {Place|null} null: it is not there */
export function findPassage(text, { text: passage, start, length }) {
  if (start !== undefined) {
    const from = offsetOf(text, 0, start);
    if (length === undefined && text.startsWith(passage, from)) return { from, to: from + passage.length };
    const to = length === undefined ? from : offsetOf(text, from, length);
    // The document may have another text since.
    if (squeezed(text.slice(from, to)).startsWith(squeezed(passage)) && to > from) return { from, to };
  }
  const words = passage.split(/\s+/).filter(Boolean);
  // A beginning that was cut may end within a word, and a passage may have a heading above it that the text has not there.
  for (const some of [words, words.slice(0, -1), words.slice(0, 12)]) {
    const found =
      some.length > 0 && (some.length >= LEAST_WORDS || some.length === words.length) && matchOf(text, some);
    if (found) return { from: found.index, to: found.index + found[0].length };
  }
  return null;
}

/** The page of an offset, of a document with form feeds between its pages. @param {string} text @param {number} at @returns {number|null} from 1; null: its pages are not known */
export const pageAt = (text, at) => (text.includes(PAGE_BREAK) ? text.slice(0, at).split(PAGE_BREAK).length : null);

/** @param {string} text */
const squeezed = (text) => text.replace(/\s+/g, " ").trim();

/** The offset `n` characters after another one; characters may be two UTF-16 units long. @param {string} text @param {number} from @param {number} n */
function offsetOf(text, from, n) {
  if (!CHARACTER_OF_TWO_UNITS.test(text)) return Math.min(from + n, text.length);
  let at = from;
  for (let count = 0; count < n && at < text.length; count += 1) at += text.codePointAt(at) > 0xffff ? 2 : 1;
  return at;
}

/** @param {string} text @param {string[]} words */
const matchOf = (text, words) =>
  new RegExp(words.map((word) => word.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")).join("\\s+")).exec(text);
