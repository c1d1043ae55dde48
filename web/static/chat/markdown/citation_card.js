/** The card over a citation chip: what its source is, and the sentence of it that the answer rests on. One popover for all chips, since at most one is open. */

import { cardParts } from "../answer/document_card.js";
import { documentAt } from "../knowledge/knowledge_api.js";
import { h } from "../elements/element.js";
import { shown } from "../elements/visible_text.js";
import { closestSentence } from "../files/passage.js";
import { fileAt, readText } from "../files/files.js";

/** @import {Source} from "../types.js" */

/** Long enough to move from the chip to its card, short enough not to linger. */
const LINGER_MS = 150;
const GAP_PX = 6;

/** Texts that were read, by document and place. @type {Map<string, string>} */
const passages = new Map();
/** The popover. @type {HTMLElement|undefined} */
let card;
/** The chip that the card describes. @type {HTMLElement|undefined} */
let describedChip;
let hideTimer = 0;

/** @param {HTMLElement} chip @param {Source} source */
export function show(chip, source) {
  clearTimeout(hideTimer);
  describedChip = chip;
  card ??= createCard();
  card.replaceChildren(...cardParts(source));
  if (!card.isConnected) document.body.append(card);
  if (!card.matches(":popover-open")) card.showPopover();
  place(card, chip.getBoundingClientRect());
  void showSentence(chip, source);
}

/** In place of the beginning, once the passage is read. @param {HTMLElement} chip @param {Source} source */
async function showSentence(chip, source) {
  const passage = await passageOf(source);
  const at = closestSentence(passage, source.statement ?? "");
  if (!at || describedChip !== chip) return;
  const before = at.from > 0 ? "… " : "";
  const after = at.to < passage.length ? " …" : "";
  card
    .querySelector(".document-snippet")
    ?.replaceChildren(before, h("mark", {}, shown(passage.slice(at.from, at.to).replace(/\s+/g, " "))), after);
  place(card, chip.getBoundingClientRect());
}

/** Its whole text, of what the user can read; else its beginning, which is all that is known of others. @param {Source} source */
async function passageOf({ document_id: id, knowledge_base: base, snippet = "", passage }) {
  if (!passage || !id) return snippet;
  const key = `${id} ${passage.start} ${passage.length}`;
  if (!passages.has(key))
    passages.set(key, await readText(base ? documentAt(base, id) : fileAt(id), passage).catch(() => snippet));
  return passages.get(key) ?? snippet;
}

function createCard() {
  // Hidden from screen readers: it repeats the chip's name and the list of sources.
  const popover = h("div", { class: "source-card", popover: "manual", "aria-hidden": "true" });
  popover.addEventListener("pointerenter", () => clearTimeout(hideTimer));
  popover.addEventListener("pointerleave", hideSoon);
  addEventListener("scroll", followFocusedChip, { capture: true, passive: true });
  return popover;
}

/** Moves with a chip that keyboard focus has scrolled into view. */
function followFocusedChip() {
  if (describedChip && describedChip === document.activeElement) place(card, describedChip.getBoundingClientRect());
  else hide();
}

export function hideSoon() {
  clearTimeout(hideTimer);
  hideTimer = setTimeout(hide, LINGER_MS);
}

export function hide() {
  clearTimeout(hideTimer);
  if (card?.matches(":popover-open")) card.hidePopover();
}

/** Above the chip, below it where there is no room. @param {HTMLElement} popover @param {DOMRect} chip */
function place(popover, chip) {
  const { width, height } = popover.getBoundingClientRect();
  const left = Math.max(GAP_PX, Math.min(chip.left + chip.width / 2 - width / 2, innerWidth - width - GAP_PX));
  const above = chip.top - height - GAP_PX;
  popover.style.left = `${left}px`;
  popover.style.top = `${above > GAP_PX ? above : chip.bottom + GAP_PX}px`;
}
