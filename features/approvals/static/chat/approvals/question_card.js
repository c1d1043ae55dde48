/** Shows what a tool call asks the user: a form, which is answered or declined. */

import { apiErrorText } from "../answer/status_texts.js";
import { h } from "../elements/element.js";
import { icon } from "../elements/icons.js";
import { shown, visibleText } from "../elements/visible_text.js";
import { t } from "../i18n.js";
import { DecisionCard, button } from "./decision_card.js";
import { FormFields } from "./form_fields.js";
import { isOfServer, nameOf } from "../tools/tool_texts.js";

/** @import {Form, ToolCall} from "../types.js" */
/** @import {ApiError} from "../server/api.js" */

export class QuestionCard extends DecisionCard {
  /** @param {ToolCall & {question: QuestionAnswer}} call */
  constructor({ row, name, question }) {
    super(
      row,
      button(t("Do not answer"), () => this.decide({ approved: false, ...this.noted }, t("Not answered"))),
      h("button", { type: "submit", class: "small primary" }, t("Answer")),
    );
    this.fields = new FormFields(/** @type {Form} */ (question.form));
    const title = isOfServer(name)
      ? t("%(name)s asks you", { name: visibleText(nameOf(name)) })
      : t("The model asks you");
    const form = h(
      "form",
      { onsubmit: (/** @type {SubmitEvent} */ event) => this.#answer(event) },
      ...this.fields.elements,
      this.note,
      this.problem,
      this.buttons,
    );
    this.element = h(
      "section",
      { class: "question-card", "aria-label": title },
      h("p", { class: "title" }, icon("user"), title),
      h("p", { class: "message", dir: "auto" }, shown(question.message)),
      form,
      this.said,
    );
  }

  /** @param {SubmitEvent} event */
  #answer(event) {
    event.preventDefault();
    return this.decide({ approved: true, values: this.fields.values(), ...this.noted }, t("Answered"));
  }

  /** @param {ApprovalBody} decision @param {string} said */
  decide(decision, said) {
    this.fields.complain("", "");
    return super.decide(decision, said);
  }

  /** @param {boolean} isDisabled */
  disable(isDisabled) {
    super.disable(isDisabled);
    this.fields.disable(isDisabled);
  }

  /** The server says what does not fit. @param {ApiError} error */
  refused(error) {
    const isOfField =
      error.code === "answer_invalid" &&
      this.fields.complain(String(error.field).replace(/^values\./, ""), `${apiErrorText(error)} ${error.message}`);
    if (!isOfField) super.refused(error);
  }
}
