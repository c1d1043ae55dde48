/** Where a passage stands in the text of a document, on which page, and which of its sentences a statement rests on. Pure. */

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
const SENTENCES = new Intl.Segmenter(undefined, { granularity: "sentence" });
const WORDS = new Intl.Segmenter(undefined, { granularity: "word" });
/** Fewer words are shared by accident. */
const LEAST_SHARED = 2;
/** A line that is nearly as long as the longest goes on in the next one. */
const FULL_LINE = 0.75;
const DIGIT = /\p{Nd}/u;
/** Words that tell little: short ones, unless they are numbers, or of a script that writes no letters. */
const LITTLE = /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}]{1,3}$/u;

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

/** The sentence of a passage that a statement rests on, by the words that both have. @param {string} passage @param {string} statement @returns {Place|null} null: none has enough of its words */
export function closestSentence(passage, statement) {
  const wanted = wordsOf(lastSentence(statement));
  const sentences = [...SENTENCES.segment(withoutWraps(passage))].map(({ index, segment }) => ({
    index,
    segment,
    words: wordsOf(segment),
  }));
  let best = { score: 0, from: 0, to: 0 };
  for (const { index, segment, words } of sentences) {
    const shared = [...words].filter((word) => wanted.has(word));
    if (shared.length < Math.min(LEAST_SHARED, wanted.size)) continue;
    // A word that many sentences have says little about this one.
    const weights = shared.map(
      (word) => (DIGIT.test(word) ? 2 : 1) / sentences.filter((one) => one.words.has(word)).length,
    );
    const score = weights.reduce((sum, weight) => sum + weight, 0);
    const from = index + segment.length - segment.trimStart().length;
    if (score > best.score) best = { score, from, to: from + segment.trim().length };
  }
  return best.score > 0 ? { from: best.from, to: best.to } : null;
}

/** What a citation at its end stands for. @param {string} text */
function lastSentence(text) {
  const sentences = [...SENTENCES.segment(text.trim())].filter(({ segment }) => wordsOf(segment).size > 0);
  return sentences.at(-1)?.segment ?? "";
}

/** @param {string} text @returns {Set<string>} */
function wordsOf(text) {
  const segments = [...WORDS.segment(text.normalize("NFKC").toLowerCase())];
  return new Set(
    segments.filter(({ isWordLike, segment }) => isWordLike && !LITTLE.test(segment)).map(({ segment }) => segment),
  );
}

/** The text with spaces for the line breaks inside sentences, as texts of PDF files have them; as long as before. @param {string} text */
function withoutWraps(text) {
  const lines = text.split("\n");
  const full = FULL_LINE * Math.max(...lines.map((line) => line.length));
  return lines.reduce((joined, line, i) => {
    const before = lines[i - 1];
    const isWrapped = before.trim() && line.trim() && (before.length >= full || /^\s*\p{Ll}/u.test(line));
    return joined + (isWrapped ? " " : "\n") + line;
  });
}
