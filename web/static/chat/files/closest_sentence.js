/** Which sentence of a passage a statement rests on, by the words that both have. Pure. */

/** @import {Place} from "./passage.js" */

const SENTENCES = new Intl.Segmenter(undefined, { granularity: "sentence" });
const WORDS = new Intl.Segmenter(undefined, { granularity: "word" });
/** Fewer words are shared by accident. */
const LEAST_SHARED = 2;
/** A line that is nearly as long as the longest goes on in the next one. */
const FULL_LINE = 0.75;
const DIGIT = /\p{Nd}/u;
/** Words that tell little: short ones, unless they are numbers, or of a script that writes no letters. */
const LITTLE = /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}]{1,3}$/u;

/** @param {string} passage @param {string} statement @returns {Place|null} null: none has enough of its words */
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
