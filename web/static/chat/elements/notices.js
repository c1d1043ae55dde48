/** Tells what has happened: the latest error, what was done and can be taken back, and what screen readers say. */

import { h } from "./element.js";
import { icon, iconButton } from "./icons.js";
import { t } from "../i18n.js";
import { apiErrorText } from "../answer/status_texts.js";

/** A line above the composer with the latest error, until it is dismissed or an action succeeds. */
export class Notice {
  /** @param {HTMLElement} element an alert, hidden */
  constructor(element) {
    this.element = element;
    this.text = h("span");
    /** @type {string|undefined} of the error shown */
    this.code = undefined;
    const dismiss = iconButton(t("Dismiss"), "close", () => this.hide());
    element.replaceChildren(icon("warning"), this.text, dismiss);
  }

  /** @param {{code?: string, message?: string}} error */
  show(error) {
    this.text.textContent = apiErrorText(error);
    this.code = error.code;
    this.element.hidden = false;
  }

  /** Hides the error shown, if it is one of these. @param {...string} codes */
  settle(...codes) {
    if (codes.includes(this.code ?? "")) this.hide();
  }

  hide() {
    this.element.hidden = true;
  }
}

const SHOWN_MS = 10_000;

/** The last one that was shown. @type {UndoNotice|null} */
let latest = null;

/**
 * A line that says what was done and takes it back, for ten seconds; longer while it is pointed at or has the focus.
 */
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

/** What was said is not found by reading on later. */
const CLEARED_MS = 10_000;

/** @param {HTMLElement} element a live region @returns {(text: string) => void} */
export function announcer(element) {
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  let timer;
  return (text) => {
    clearTimeout(timer);
    // The same text again would be no change, which is not read.
    element.textContent = element.textContent === text ? `${text}\u00a0` : text;
    timer = setTimeout(() => (element.textContent = ""), CLEARED_MS);
  };
}
