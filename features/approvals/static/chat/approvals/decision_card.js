/** What the cards have in common with which users decide about tool calls that wait: a note, buttons, and what becomes of a decision. */

import { apiErrorText } from "../answer/status_texts.js";
import { h } from "../elements/element.js";
import { t } from "../i18n.js";
import { call } from "../server/api.js";

/** @import {ApiError} from "../server/api.js" */

const LONGEST_NOTE = 2_000;

export class DecisionCard {
  /** @param {string} row  of the tool call @param {...HTMLButtonElement} buttons */
  constructor(row, ...buttons) {
    this.row = row;
    this.note = h("input", {
      type: "text",
      maxLength: LONGEST_NOTE,
      placeholder: t("Note for the model (optional)"),
      "aria-label": t("Note for the model (optional)"),
    });
    this.problem = h("p", { role: "alert", class: "problem", hidden: true });
    this.buttons = h("div", { class: "row" }, ...buttons);
    this.said = h("p", { role: "status", class: "said", hidden: true });
    this.isBusy = false;
  }

  /** Whether it can be decided: it has not been, and no answer is awaited. */
  get isOpen() {
    return !this.isBusy && this.said.hidden;
  }

  /** The note, as a part of a decision. @returns {{note?: string}} */
  get noted() {
    const note = this.note.value.trim();
    return note ? { note } : {};
  }

  /** @param {ApprovalBody} decision @param {string} said  once it is stored */
  async decide(decision, said) {
    this.problem.hidden = true;
    this.disable(true);
    try {
      await call("POST", `tool-calls/${this.row}/approval/`, decision);
      this.end(said);
    } catch (/** @type {any} */ error) {
      if (error.code === "already_decided") return this.end(apiErrorText(error));
      this.disable(false);
      this.refused(error);
    }
  }

  /** @param {boolean} isDisabled */
  disable(isDisabled) {
    this.isBusy = isDisabled;
    for (const control of [this.note, ...this.buttons.querySelectorAll("button")]) control.disabled = isDisabled;
  }

  /** The server does not take the decision. @param {ApiError} error */
  refused(error) {
    this.complain(apiErrorText(error));
  }

  /** @param {string} text */
  complain(text) {
    this.problem.textContent = text;
    this.problem.hidden = false;
  }

  /** Until the answer goes on. @param {string} text */
  end(text) {
    this.said.textContent = text;
    this.said.hidden = false;
    this.buttons.hidden = this.note.hidden = true;
  }
}

/** @param {string} label @param {() => void} onclick @param {string} [kind] */
export const button = (label, onclick, kind = "") =>
  h("button", { type: "button", class: `small ${kind}`, onclick }, label);
