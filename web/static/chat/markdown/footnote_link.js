/** The sign of a footnote: in the text it leads to the note, at the note back to the text. */

import { bringIntoSight } from "../elements/bring_into_sight.js";
import { h } from "../elements/element.js";
import { t } from "../i18n.js";

const REFERENCE = "footnote-reference";
const MARK = "footnote-mark";
export const FOOTNOTE_SIGNS = `sup.${REFERENCE}, sup.${MARK}`;

export class FootnoteLink {
  /** @param {Element} fresh one of FOOTNOTE_SIGNS */
  constructor(fresh) {
    this.label = fresh.textContent;
    this.isReference = fresh.classList.contains(REFERENCE);
    const name = this.isReference
      ? t("Footnote %(label)s", { label: this.label })
      : t("Footnote %(label)s: back to the text", { label: this.label });
    const button = h("button", { type: "button", "aria-label": name, onclick: () => this.#follow() }, this.label);
    this.element = h("sup", { class: fresh.className }, button);
  }

  /** @param {Element} fresh */
  tryUpdate(fresh) {
    return (
      fresh.matches(FOOTNOTE_SIGNS) && fresh.className === this.element.className && fresh.textContent === this.label
    );
  }

  #follow() {
    const place = this.element.closest("article") ?? this.element.closest(".markdown");
    const other = [...place.querySelectorAll(`.${this.isReference ? MARK : REFERENCE} > button`)].find(
      ({ textContent }) => textContent.toLowerCase() === this.label.toLowerCase(),
    );
    if (!(other instanceof HTMLElement)) return;
    other.closest("details")?.setAttribute("open", "");
    other.focus({ preventScroll: true });
    bringIntoSight(other, { block: "center" });
  }
}
