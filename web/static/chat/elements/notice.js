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
    const label = t("Dismiss");
    const dismiss = h("button", { type: "button", class: "icon-button", "aria-label": label, title: label, onclick: () => this.hide() }, icon("close"));
    element.replaceChildren(icon("warning"), this.text, dismiss);
  }

  /** @param {{code?: string, message?: string}} error */
  show(error) {
    this.text.textContent = apiErrorText(error);
    this.element.hidden = false;
  }

  hide() {
    this.element.hidden = true;
  }
}
