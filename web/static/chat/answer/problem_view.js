/** The error of a failed answer, with buttons to retry, and to let the model go on with what it has written. */

import { assign, h } from "../elements/element.js";
import { t } from "../i18n.js";
import { icon } from "../elements/icons.js";
import { openMenu } from "../elements/menu.js";
import { canAnotherModelHelp } from "./run_error_texts.js";
import { runErrorText } from "./status_texts.js";
import { lookupOf, referenceOf } from "./run_reference.js";

/** @import {RunError} from "../types.js" */

export class ProblemView {
  /** @param {{goOn: () => void, again: () => void, others: () => import("../elements/menu.js").MenuItem[]}} actions others: other models to ask */
  constructor(actions) {
    this.actions = actions;
    this.text = h("p");
    this.reference = h("p", { class: "hint" });
    this.goOn = h("button", { type: "button", class: "small", onclick: actions.goOn }, t("Continue"));
    this.again = h("button", { type: "button", class: "small", onclick: actions.again }, t("Try again"));
    this.other = h(
      "button",
      { type: "button", class: "small", onclick: () => openMenu(this.other, actions.others()) },
      t("Another model"),
    );
    const row = h("div", { class: "row" }, this.goOn, this.again, this.other);
    this.element = h("div", { class: "problem", hidden: true }, icon("warning"), this.text, this.reference, row);
  }

  /** @param {RunError|null} error @param {boolean} isOver nothing more comes: trying again is possible @param {string} run its id @param {boolean} mayGoOn */
  show(error, isOver, run, mayGoOn) {
    assign(this.element, { hidden: !error });
    if (!error) return;
    this.text.textContent = runErrorText(error);
    const [reference, href] = [t("Reference %(reference)s", { reference: referenceOf(run) }), lookupOf(run)];
    this.reference.replaceChildren(href ? h("a", { href }, reference) : reference);
    this.goOn.hidden = !mayGoOn;
    this.again.hidden = !isOver || !error.retryable;
    this.other.hidden = !isOver || !canAnotherModelHelp(error.code) || this.actions.others().length === 0;
  }
}
