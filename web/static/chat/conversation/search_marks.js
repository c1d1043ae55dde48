/** Marks the words of a search in one message, by the browser's highlights: the document stays as it is. */

import { bringIntoSight } from "../elements/element.js";
import { UNSPACED, WORD_START, normalForm, normalFormWithPlaces } from "../state/normal_form.js";

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
    const ranges = rangesIn(this.element, this.query);
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
