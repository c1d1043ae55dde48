/** A line that says what was done and takes it back, for ten seconds; longer while it is pointed at or has the focus. */

import { h } from "./element.js";
import { t } from "../i18n.js";

const SHOWN_MS = 10_000;

/** The last one that was shown. @type {UndoNotice|null} */
let latest = null;

export class UndoNotice {
  /** Shows it in place of an earlier one. @param {string} text @param {() => unknown} undo */
  constructor(text, undo) {
    latest?.hide();
    latest = this;
    const button = h("button", { type: "button", onclick: () => (this.hide(), undo()) }, t("Undo"));
    this.said = h("span", { role: "status" });
    this.element = h("div", { class: "undo" }, this.said, button);
    // Beside an open dialog it could not be reached.
    (document.querySelector("dialog[open]") ?? document.body).append(this.element);
    // A live region tells of what changes in it, not of what it is made with.
    requestAnimationFrame(() => (this.said.textContent = text));
    for (const name of ["pointerenter", "focusin"]) this.element.addEventListener(name, () => clearTimeout(this.timer));
    for (const name of ["pointerleave", "focusout"]) this.element.addEventListener(name, () => this.#hideLater());
    this.#hideLater();
  }

  hide() {
    clearTimeout(this.timer);
    this.element.remove();
  }

  #hideLater() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.hide(), SHOWN_MS);
  }
}
