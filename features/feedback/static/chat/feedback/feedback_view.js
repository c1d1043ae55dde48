/** The feedback on an answer: thumb up or down, and a text. Pressing the thumb again removes it. */

import { isComposing } from "../elements/text_field.js";
import { assign, h } from "../elements/element.js";
import { t } from "../i18n.js";
import { iconButton } from "../elements/icons.js";
import { call } from "../server/api.js";

/** @import {Message} from "../types.js" */
/** @typedef {{is_positive: boolean|null, text: string}|null} Feedback */

const LONGEST_TEXT = 2_000;

/** @param {string} message @param {Feedback} feedback null removes it */
export const sendFeedback = (message, feedback) =>
  call(feedback ? "PUT" : "DELETE", `messages/${message}/feedback/`, feedback ?? undefined);

export class FeedbackView {
  /** @param {(message: string, feedback: Feedback) => Promise<boolean>} give sends feedback, null removes it; resolves to whether it was accepted */
  constructor(give) {
    this.give = give;
    this.good = this.#thumb("thumbUp", t("Good answer"), true);
    this.bad = this.#thumb("thumbDown", t("Bad answer"), false);
    this.element = h(
      "span",
      { class: "feedback", role: "group", "aria-label": t("Your opinion") },
      this.good,
      this.bad,
    );
    this.comment = h("div", { class: "comment", hidden: true });
    /** @type {HTMLTextAreaElement|undefined} created with the first press */
    this.field = undefined;
    /** @type {Message|undefined} */
    this.message = undefined;
    /** @type {Feedback} */
    this.feedback = null;
    this.isChangedHere = false;
  }

  /** @param {Message} message */
  show(message) {
    if (message === this.message) return;
    if (message.id !== this.message?.id) this.isChangedHere = false;
    // A read that started before the change here is older than what is shown.
    if (!this.isChangedHere) this.feedback = message.feedback ?? null;
    this.message = message;
    this.#showPressed();
  }

  /** @param {import("../elements/icons.js").IconName} name @param {string} label @param {boolean} isPositive */
  #thumb(name, label, isPositive) {
    return iconButton(label, name, () => this.#press(isPositive), { "aria-pressed": "false" });
  }

  /** @param {boolean} isPositive */
  async #press(isPositive) {
    const isRemoved = this.feedback?.is_positive === isPositive;
    const isAccepted = await this.#send(
      isRemoved ? null : { is_positive: isPositive, text: this.feedback?.text ?? "" },
    );
    if (!isAccepted) return;
    if (isRemoved) return this.#close();
    this.field ??= this.#createForm();
    // What is being written in it stays.
    if (this.comment.hidden) this.field.value = this.feedback?.text ?? "";
    this.comment.hidden = false;
    this.field.focus();
    this.comment.scrollIntoView({ block: "nearest" });
  }

  #createForm() {
    const field = h("textarea", {
      rows: 2,
      maxLength: LONGEST_TEXT,
      placeholder: t("What was good, what was wrong? (optional)"),
      "aria-label": t("Your comment"),
    });
    const close = h("button", { type: "button", class: "small", onclick: () => this.#close() }, t("Close"));
    const save = h("button", { type: "submit", class: "small primary" }, t("Save comment"));
    const form = h(
      "form",
      { onsubmit: (/** @type {Event} */ event) => this.#save(event) },
      field,
      h("div", { class: "row" }, close, save),
    );
    form.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || isComposing(event)) return;
      event.stopPropagation();
      this.#close();
    });
    this.comment.append(form);
    return field;
  }

  /** @param {Event} event */
  async #save(event) {
    event.preventDefault();
    if (await this.#send({ is_positive: this.feedback?.is_positive ?? null, text: this.field.value.trim() }))
      this.#close();
  }

  /** @param {Feedback} feedback */
  async #send(feedback) {
    const before = this.feedback;
    this.isChangedHere = true;
    this.feedback = feedback;
    this.#showPressed();
    const isAccepted = await this.give(this.message.id, feedback);
    if (!isAccepted) this.feedback = before;
    this.#showPressed();
    return isAccepted;
  }

  #close() {
    const hadFocus = this.comment.contains(document.activeElement);
    this.comment.hidden = true;
    if (hadFocus) (this.feedback?.is_positive === false ? this.bad : this.good).focus();
  }

  #showPressed() {
    assign(this.good, { ariaPressed: String(this.feedback?.is_positive === true) });
    assign(this.bad, { ariaPressed: String(this.feedback?.is_positive === false) });
  }
}
