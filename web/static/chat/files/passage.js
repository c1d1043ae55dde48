/** Where a passage stands in the text of a document. Pure. */

/** @typedef {{text: string, start?: number}} Passage  start: in characters of the document's text, where it is known */

const CHARACTER_OF_TWO_UNITS = /[\ud800-\udbff][\udc00-\udfff]/;
/** Fewer words are found by accident. */
const LEAST_WORDS = 4;

/** @param {string} text @param {Passage} passage @returns {{from: number, to: number}|null} UTF-16 offsets; null: it is not there */
export function findPassage(text, { text: passage, start }) {
  const from = start === undefined ? -1 : offsetOf(text, start);
  if (from !== -1 && text.startsWith(passage, from)) return { from, to: from + passage.length };
  const words = passage.split(/\s+/).filter(Boolean);
  // A beginning that was cut may end within a word, and a passage may have a heading above it that the text has not there.
  for (const some of [words, words.slice(0, -1), words.slice(0, 12)]) {
    const found = some.length > 0 && (some.length >= LEAST_WORDS || some.length === words.length) && matchOf(text, some);
    if (found) return { from: found.index, to: found.index + found[0].length };
  }
  return null;
}

/** The offset of the n-th character, which may be two UTF-16 units long. @param {string} text @param {number} n */
function offsetOf(text, n) {
  if (!CHARACTER_OF_TWO_UNITS.test(text)) return n;
  let at = 0;
  for (let count = 0; count < n && at < text.length; count += 1) at += text.codePointAt(at) > 0xffff ? 2 : 1;
  return at;
}

/** @param {string} text @param {string[]} words */
const matchOf = (text, words) => new RegExp(words.map((word) => word.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")).join("\\s+")).exec(text);
