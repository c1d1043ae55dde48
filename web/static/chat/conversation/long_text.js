/** Which questions are folded. */

/** Texts of more lines than these are folded to fewer (question.css), so that a fold hides more than its button takes. */
const MOST_LINES = 22;
/** Characters of a full line, about. */
const LINE = 75;

/** By an estimate: the heights of all questions of a chat would have to be measured before the first is drawn. @param {string} text */
export function isLong(text) {
  if (text.length > MOST_LINES * LINE) return true;
  const lines = text.trim().split("\n");
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / LINE)), 0) > MOST_LINES;
}
