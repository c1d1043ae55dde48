/** The numbered chips of citations: a click opens the source, hovering shows its card. */

import { cardParts, linkTo, titleOf } from "../answer/document_card.js";
import { h } from "../elements/element.js";
import { t } from "../i18n.js";

/** @import {Source} from "../types.js" */

/** Long enough to move from the chip to its card, short enough not to linger. */
const LINGER_MS = 150;
const GAP_PX = 6;

/** The card's popover, shared by all chips: at most one is open. @type {HTMLElement|undefined} */
let card;
/** The chip that the card describes. @type {HTMLElement|undefined} */
let describedChip;
let hideTimer = 0;

/**
 * @param {Source} source
 * @param {() => Source} known  the same source with everything that is known of it by now
 * @returns {HTMLElement}
 */
export function citationChip(source, known) {
  const chip = linkTo(source, "citation-chip", document.createTextNode(String(source.number)));
  chip.setAttribute("aria-label", t("Source %(number)s: %(title)s", { number: source.number, title: titleOf(source) }));
  if (chip.tagName === "SPAN") Object.assign(chip, { tabIndex: 0, role: "note" });
  const open = () => show(chip, known());
  chip.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && open());
  chip.addEventListener("pointerleave", hideSoon);
  chip.addEventListener("focus", open);
  chip.addEventListener("blur", hideSoon);
  chip.addEventListener("keydown", (event) => event.key === "Escape" && hide());
  return chip;
}

/** @param {HTMLElement} chip @param {Source} source */
function show(chip, source) {
  clearTimeout(hideTimer);
  describedChip = chip;
  card ??= createCard();
  card.replaceChildren(...cardParts(source));
  if (!card.isConnected) document.body.append(card);
  if (!card.matches(":popover-open")) card.showPopover();
  place(card, chip.getBoundingClientRect());
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

function hideSoon() {
  clearTimeout(hideTimer);
  hideTimer = setTimeout(hide, LINGER_MS);
}

function hide() {
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
