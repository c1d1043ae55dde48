/** What a search has found, as a row of the list shows it: the words near the beginning and marked, without the signs of Markdown. Pure. */

import { matchesIn } from "../conversation/search_marks.js";

/** Characters before the first word that was found: a row holds some forty. */
const BEFORE = 16;

/** @param {string} match @param {string} query @returns {{text: string, isFound: boolean}[]} */
export function matchParts(match, query) {
  const text = withoutMarkdown(match);
  const found = matchesIn(text, query);
  const first = found[0]?.[0] ?? 0;
  const from = first > BEFORE ? text.indexOf(" ", first - BEFORE) + 1 : 0;
  const parts = [];
  let at = from;
  for (const [begin, end] of found) {
    if (begin > at) parts.push({ text: text.slice(at, begin), isFound: false });
    parts.push({ text: text.slice(begin, end), isFound: true });
    at = end;
  }
  if (at < text.length) parts.push({ text: text.slice(at), isFound: false });
  if (from > 0) parts.unshift({ text: "…", isFound: false });
  return parts;
}

/** @param {string} text of one line */
function withoutMarkdown(text) {
  return text
    .replace(/!?\[([^\]]*)\]\([^)\s]*\)/g, "$1")
    .replace(/(?:\|?\s*:?-{3,}:?\s*)+\|?/g, " ")
    .replace(
      /\*\*|__|~~|`+|(?<=^|\s)(?:#{1,6}|>|\|)(?=\s)|(?<=\s)\||\|(?=\s|$)|(?<!\w)\*(?=\w)|(?<=[\p{L}\p{N}.,!?])\*(?!\w)/gu,
      "",
    )
    .replace(/\s+/g, " ")
    .trim();
}
