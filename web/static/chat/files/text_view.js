/** The text of a file, in parts, with a passage marked and scrolled to. */

import { h } from "../elements/element.js";
import { t } from "../i18n.js";
import { findPassage } from "./passage.js";

/** @import {Passage} from "./passage.js" */

/** A longer text is shown in parts: a browser takes long to lay out millions of characters. */
const PART_CHARACTERS = 100_000;

/** @param {string} text @param {Passage} [passage] @returns {{elements: HTMLElement[], shown: () => void}} shown: to be called once they are in the document */
export function textView(text, passage) {
  const found = passage ? findPassage(text, passage) : null;
  let [start, end] = found ? [Math.max(0, found.from - PART_CHARACTERS / 2), Math.max(found.to, Math.min(text.length, found.from + PART_CHARACTERS / 2))] : [0, Math.min(text.length, PART_CHARACTERS)];
  const body = h("pre", { class: "file-text", tabIndex: 0, role: "region", "aria-label": t("Text") });
  const mark = found && h("mark", { id: "passage" }, text.slice(found.from, found.to));
  if (mark) body.append(text.slice(start, found.from), mark, text.slice(found.to, end));
  else body.append(text.slice(start, end));
  const above = h("button", { type: "button", class: "small", onclick: () => showAbove() }, t("Show what is above"));
  const more = h("button", { type: "button", class: "small", onclick: () => showMore() }, t("Show more"));
  const place = () => {
    above.hidden = start === 0;
    more.hidden = end >= text.length;
  };
  const showMore = () => {
    body.append(text.slice(end, (end += PART_CHARACTERS)));
    place();
  };
  const showAbove = () => {
    const height = body.scrollHeight;
    const from = Math.max(0, start - PART_CHARACTERS);
    body.prepend(text.slice(from, start));
    start = from;
    body.scrollTop += body.scrollHeight - height;
    place();
  };
  place();
  const note = passage && !found ? [h("p", { class: "hint", role: "status" }, t("The passage is not in this version of the text."))] : [];
  return { elements: [...note, above, body, more], shown: () => mark?.scrollIntoView({ block: "center" }) };
}
