/** The numbered chips of citations: a click opens the source, hovering shows its card, which is loaded then. */

import { linkTo, titleOf } from "../answer/document_card.js";
import { t } from "../i18n.js";

/** @import {Source} from "../types.js" */

/** @type {typeof import("./citation_card.js")|undefined} */
let card;
/** The chip that is hovered or focused. @type {HTMLElement|undefined} */
let wanted;

/**
 * @param {Source} source
 * @param {() => Source} known  the same source with everything that is known of it by now
 * @returns {HTMLElement}
 */
export function citationChip(source, known) {
  const stated = () => ({ ...known(), statement: statementOf(chip) });
  const chip = linkTo(source, "citation-chip", [document.createTextNode(String(source.place))], stated);
  chip.setAttribute("aria-label", t("Source %(number)s: %(title)s", { number: source.place, title: titleOf(source) }));
  if (chip.tagName === "SPAN") Object.assign(chip, { tabIndex: 0, role: "note" });
  const open = () => show(chip, stated);
  chip.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && open());
  chip.addEventListener("pointerleave", leave);
  chip.addEventListener("focus", open);
  chip.addEventListener("blur", leave);
  chip.addEventListener("keydown", (event) => event.key === "Escape" && card?.hide());
  return chip;
}

/** The text of its paragraph before it. @param {HTMLElement} chip */
function statementOf(chip) {
  const range = document.createRange();
  range.selectNodeContents(chip.closest("p, li, td, th, dd, blockquote, h1, h2, h3, h4, h5, h6") ?? chip.parentElement);
  range.setEndBefore(chip);
  const before = range.cloneContents();
  before.querySelectorAll(".citation-chip").forEach((other) => other.remove());
  return before.textContent;
}

/** @param {HTMLElement} chip @param {() => Source} known */
async function show(chip, known) {
  wanted = chip;
  card ??= await import("./citation_card.js").catch(() => /** @type {any} */ (undefined));
  if (wanted === chip) card?.show(chip, known());
}

function leave() {
  wanted = undefined;
  card?.hideSoon();
}
