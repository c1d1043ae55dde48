/** Says that an answer was cut or stopped, and why, with a button to let the model go on. */

import { assign, h } from "../elements/element.js";
import { t, tn } from "../i18n.js";
import { icon } from "../elements/icons.js";

/** @import {Cut} from "../types.js" */

/**
 * @param {Cut} cut
 * @returns {string}
 */
export function cutText({ reason, tokens }) {
  if (reason === "content_filter") return t("Cut by the provider's filter");
  if (reason === "token_limit") return t("Stopped: one answer may use no more tokens");
  if (reason === "character_limit") return t("Stopped: one answer may not be longer");
  return tokens
    ? tn("Stopped at %(count)s token", "Stopped at %(count)s tokens", tokens)
    : t("Stopped at the output limit");
}

export class CutView {
  /** @param {() => void} goOn */
  constructor(goOn) {
    this.text = h("p");
    this.goOn = h("button", { type: "button", class: "small", onclick: goOn }, t("Continue"));
    this.element = h("div", { class: "cut", hidden: true }, icon("warning"), this.text, this.goOn);
  }

  /**
   * @param {Cut|null} cut
   * @param {boolean} hasText
   * @param {boolean} mayGoOn
   * @param {boolean} isStopped  by its user; said only where it may go on
   */
  show(cut, hasText, mayGoOn, isStopped) {
    assign(this.element, { hidden: !cut && !(isStopped && mayGoOn) });
    assign(this.goOn, { hidden: !mayGoOn });
    assign(this.text, { textContent: this.#words(cut, hasText) });
  }

  /** @param {Cut|null} cut @param {boolean} hasText */
  #words(cut, hasText) {
    if (!cut) return t("This answer was stopped.");
    return hasText ? cutText(cut) : t("%(why)s, before the answer began", { why: cutText(cut) });
  }
}
