/** Shows what a tool call asks the user: a form, which is answered or declined. */

import { apiErrorText } from "../answer/status_texts.js";
import { h } from "../elements/element.js";
import { icon } from "../elements/icons.js";
import { t } from "../i18n.js";
import { decide } from "../server/approvals_api.js";
import { FormFields } from "./form_fields.js";
import { isOfServer, nameOf } from "./tool_names.js";

/** @import {Question, ToolCall} from "../types.js" */
/** @import {Decision} from "../server/approvals_api.js" */

const LONGEST_NOTE = 2_000;

export class QuestionCard {
  /** @param {ToolCall & {question: Question}} call */
  constructor({ row, name, question }) {
    this.row = row;
    this.fields = new FormFields(question.form);
    this.note = h("input", { type: "text", maxLength: LONGEST_NOTE, placeholder: t("Note for the model (optional)"), "aria-label": t("Note for the model (optional)") });
    this.problem = h("p", { role: "alert", class: "problem", hidden: true });
    this.buttons = h("div", { class: "row" },
      h("button", { type: "button", class: "small", onclick: () => this.#decline() }, t("Do not answer")),
      h("button", { type: "submit", class: "small primary" }, t("Answer")));
    this.said = h("p", { role: "status", class: "said", hidden: true });
    const title = isOfServer(name) ? t("%(name)s asks you", { name: nameOf(name) }) : t("The model asks you");
    const form = h("form", { onsubmit: (/** @type {SubmitEvent} */ event) => this.#answer(event) }, ...this.fields.elements, this.note, this.problem, this.buttons);
    this.element = h("section", { class: "question-card", "aria-label": title },
      h("p", { class: "title" }, icon("user"), title), h("p", { class: "message", dir: "auto" }, question.message), form, this.said);
  }

  /** @param {SubmitEvent} event */
  #answer(event) {
    event.preventDefault();
    return this.#decide({ approved: true, values: this.fields.values() }, t("Answered"));
  }

  #decline() {
    return this.#decide({ approved: false }, t("Not answered"));
  }

  /** @param {Decision} decision @param {string} said  once it is stored */
  async #decide(decision, said) {
    const note = this.note.value.trim();
    this.fields.complain("", "");
    this.problem.hidden = true;
    this.#disable(true);
    try {
      await decide(this.row, { ...decision, ...(note ? { note } : {}) });
      this.#end(said);
    } catch (/** @type {any} */ error) {
      if (error.code === "already_decided") return this.#end(apiErrorText(error));
      this.#disable(false);
      this.#complain(error);
    }
  }

  /** The server says what does not fit. @param {import("../server/api.js").ApiError} error */
  #complain(error) {
    const isOfField = error.code === "answer_invalid" && this.fields.complain(String(error.field).replace(/^values\./, ""), `${apiErrorText(error)} ${error.message}`);
    if (isOfField) return;
    this.problem.textContent = apiErrorText(error);
    this.problem.hidden = false;
  }

  /** @param {boolean} isDisabled */
  #disable(isDisabled) {
    this.fields.disable(isDisabled);
    for (const control of [this.note, ...this.buttons.querySelectorAll("button")]) control.disabled = isDisabled;
  }

  /** Until the answer goes on. @param {string} text */
  #end(text) {
    this.said.textContent = text;
    this.said.hidden = false;
    this.buttons.hidden = this.note.hidden = true;
  }
}
