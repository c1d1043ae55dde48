/**
 * Finds the words of a search in a text, in the one spelling in which texts are searched, as in
 * knowledge/texts/searched_text.py: both pass tests/knowledge/texts/normal_forms.json. A row of the list shows the
 * words near the beginning and marked, without the signs of Markdown.
 */

import { bringIntoSight } from "../elements/element.js";

const NAME = "found";
/** What is searched of a message. */
const TEXTS = ".question-text, .narration, .body";

/**
 * Where the words of a search, or words that begin with them, stand in a text, in whichever spelling. What is written without
 * spaces is looked for as it stands. As in chat/models/sql/session_search.py.
 * @param {string} text @param {string} query @returns {[number, number][]} in order
 */
export function matchesIn(text, query) {
  const asked = normalForm(query).trim();
  const words = UNSPACED.test(asked) ? [asked] : asked.split(/\s+/).filter((word) => /[\p{L}\p{N}_]/u.test(word));
  if (words.length === 0) return [];
  const escaped = words
    .map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"))
    .sort((one, other) => other.length - one.length);
  const start = UNSPACED.test(asked) ? "" : WORD_START;
  const { form, starts, ends } = normalFormWithPlaces(text);
  const found = form.matchAll(new RegExp(`${start}(?:${escaped.join("|")})`, "gu"));
  return [...found].map(({ index, 0: match }) => [starts[index], ends[index + match.length - 1]]);
}

/** Marks the words of a search in one message, by the browser's highlights: the document stays as it is. */
export class SearchMarks {
  constructor() {
    /** @type {HTMLElement|null} */
    this.element = null;
    this.query = "";
    // What is drawn anew, as code is when its colours are there, is marked anew.
    this.observer = new MutationObserver(() => this.#mark());
  }

  /** Marks the message, and its words as far as the browser has highlights, and brings the first into sight. @param {HTMLElement} element @param {string} query */
  show(element, query) {
    this.clear();
    [this.element, this.query] = [element, query];
    element.classList.add(NAME);
    this.bringIntoSight();
    this.observer.observe(element, { childList: true, subtree: true, characterData: true });
  }

  /** The first of the words. */
  bringIntoSight() {
    const first = this.element && this.#mark()?.startContainer.parentElement;
    first?.closest("details")?.setAttribute("open", "");
    if (first) bringIntoSight(first, { block: "center" });
  }

  clear() {
    this.observer.disconnect();
    this.element?.classList.remove(NAME);
    this.element = null;
    globalThis.CSS?.highlights?.delete(NAME);
  }

  /** @returns {Range|undefined} the first */
  #mark() {
    const ranges = rangesIn(/** @type {HTMLElement} */ (this.element), this.query);
    globalThis.CSS?.highlights?.set(NAME, new Highlight(...ranges));
    return ranges[0];
  }
}

/** @param {HTMLElement} element @param {string} query @returns {Range[]} */
function rangesIn(element, query) {
  const ranges = [];
  for (const part of element.querySelectorAll(TEXTS)) {
    const texts = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
    for (let node = texts.nextNode(); node; node = texts.nextNode()) {
      for (const [from, to] of matchesIn(node.nodeValue ?? "", query)) {
        const range = new Range();
        range.setStart(node, from);
        range.setEnd(node, to);
        ranges.push(range);
      }
    }
  }
  return ranges;
}

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

/** Thai to Khmer, kana, and Chinese characters: no spaces between words. */
const CHARACTERS =
  "\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff\\u3005-\\u3007\\u3040-\\u30ff\\u3400-\\u9fff\\uf900-\\ufaff\\u{20000}-\\u{3ffff}";
export const UNSPACED = new RegExp(`[${CHARACTERS}]`, "u");
const HANGUL = "\\uac00-\\ud7a3";
/** Where a word may begin: Latin words stand inside of others, and Hangul is also found by every two characters. */
export const WORD_START = `(?:(?<![\\p{L}\\p{N}_])|(?<=[${CHARACTERS}${HANGUL}])|(?=[${HANGUL}]))`;
/** What may become one character: letters with their marks, parts of Hangul, kana of half width with their voice mark. */
const CLUSTER = /[\u1100-\u11ff]+|[^][\p{M}\uff9e\uff9f]*/gu;

/** NFKC and case fold. @param {string} text @returns {string} */
export function normalForm(text) {
  return text.normalize("NFKC").replaceAll("İ", "i").toLowerCase().replaceAll("ß", "ss").replaceAll("ς", "σ");
}

/**
 * The normal form, and for each of its code units, and its end, where the character that it comes from begins and ends.
 * @param {string} text @returns {{form: string, starts: number[], ends: number[]}}
 */
function normalFormWithPlaces(text) {
  /** @type {number[]} */
  const starts = [];
  /** @type {number[]} */
  const ends = [];
  let form = "";
  for (const { 0: cluster, index } of text.matchAll(CLUSTER)) {
    const part = normalForm(cluster);
    form += part;
    for (let at = 0; at < part.length; at++) {
      starts.push(index);
      ends.push(index + cluster.length);
    }
  }
  return { form, starts, ends };
}
