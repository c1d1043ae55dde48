/** The text of a file, in parts, with a passage marked and scrolled to, and the beginnings of pages named. */

import { h } from "../elements/element.js";
import { t } from "../i18n.js";
import { closestSentence } from "./closest_sentence.js";
import { findPassage, PAGE_BREAK, pageAt } from "./passage.js";

/** @import {Passage, Place} from "./passage.js" */

/** A longer text is shown in parts: a browser takes long to lay out millions of characters. */
const PART_CHARACTERS = 100_000;

/**
 * @param {string} text
 * @param {{passage?: Passage, hasPages?: boolean}} options  hasPages: form feeds stand between its pages
 * @returns {{elements: HTMLElement[], place: Place|null, shown: () => void}} place: of the passage; shown: to be called once they are in the document
 */
export function textView(text, { passage, hasPages = false }) {
  const found = passage ? findPassage(text, passage) : null;
  /** @param {number} from @param {number} to */
  const part = (from, to) => (hasPages ? withPages(text, from, to) : [text.slice(from, to)]);
  let [start, end] = found
    ? [
        Math.max(0, found.from - PART_CHARACTERS / 2),
        Math.max(found.to, Math.min(text.length, found.from + PART_CHARACTERS / 2)),
      ]
    : [0, Math.min(text.length, PART_CHARACTERS)];
  const body = h("pre", { class: "file-text", tabIndex: 0, role: "region", "aria-label": t("Text") });
  const sentence = found && sentenceIn(text, found, passage.statement ?? "");
  const marked = sentence && h("strong", { class: "sentence" }, ...part(sentence.from, sentence.to));
  const mark =
    found &&
    h(
      "mark",
      { id: "passage" },
      ...(marked
        ? [...part(found.from, sentence.from), marked, ...part(sentence.to, found.to)]
        : part(found.from, found.to)),
    );
  if (mark) body.append(...part(start, found.from), mark, ...part(found.to, end));
  else body.append(...part(start, end));
  const above = h("button", { type: "button", class: "small", onclick: () => showAbove() }, t("Show what is above"));
  const more = h("button", { type: "button", class: "small", onclick: () => showMore() }, t("Show more"));
  const place = () => {
    above.hidden = start === 0;
    more.hidden = end >= text.length;
  };
  const showMore = () => {
    body.append(...part(end, (end += PART_CHARACTERS)));
    place();
  };
  const showAbove = () => {
    const height = body.scrollHeight;
    const from = Math.max(0, start - PART_CHARACTERS);
    body.prepend(...part(from, start));
    start = from;
    body.scrollTop += body.scrollHeight - height;
    place();
  };
  place();
  const note =
    passage && !found
      ? [h("p", { class: "hint", role: "status" }, t("The passage is not in this version of the text."))]
      : [];
  return {
    elements: [...note, above, body, more],
    place: found,
    shown: () => (marked ?? mark)?.scrollIntoView({ block: isLong(marked ?? mark, body) ? "start" : "center" }),
  };
}

/** @param {string} text @param {Place} passage @param {string} statement @returns {Place|null} */
function sentenceIn(text, { from, to }, statement) {
  const at = closestSentence(text.slice(from, to), statement);
  return at && { from: from + at.from, to: from + at.to };
}

/** Whether the middle of a passage would be shown without its beginning. @param {HTMLElement} mark @param {HTMLElement} body */
const isLong = (mark, body) => mark.getBoundingClientRect().height > body.clientHeight;

/** A part of the text, with the numbers of the pages that begin in it. @param {string} text @param {number} from @param {number} to */
function withPages(text, from, to) {
  const before = pageAt(text, from) ?? 1;
  const pages = text.slice(from, to).split(PAGE_BREAK);
  return pages.flatMap((page, i) =>
    i === 0 ? [page] : [h("span", { class: "page-break" }, pageText(before + i)), page],
  );
}

/** @param {number} page */
export const pageText = (page) => t("Page %(page)s", { page });
