/** A line above the composer with the latest error, until it is dismissed or an action succeeds. */

import { h } from "./element.js";
import { icon } from "./icons.js";
import { t } from "../i18n.js";
import { apiErrorText } from "../answer/status_texts.js";

export class Notice {
  /** @param {HTMLElement} element an alert, hidden */
  constructor(element) {
    this.element = element;
    this.text = h("span");
    /** @type {string|undefined} of the error shown */
    this.code = undefined;
    const label = t("Dismiss");
    const dismiss = h(
      "button",
      { type: "button", class: "icon-button", "aria-label": label, title: label, onclick: () => this.hide() },
      icon("close"),
    );
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
