/** Messages that are edited in place, and their texts that were not sent yet. */

import { isComposing } from "../elements/text_field.js";
import { h } from "../elements/element.js";
import { t } from "../i18n.js";

/** On touch devices Enter inserts a line break: there is a button to send. */
const hasKeyboard = () => matchMedia("(hover: hover)").matches;

/** Edits a question in place. Enter sends, Shift+Enter inserts a line break, Escape cancels. */
export class QuestionEditor {
  /**
   * @param {string} text
   * @param {boolean} isWaiting  for the answer above: the question is changed, not asked again
   * @param {{send: (text: string) => Promise<boolean>, changed: (text: string) => void, closed: () => void}} listener send resolves to: was it accepted
   * @param {string} [edited] what was written before
   * @param {boolean} [mayBeEmpty]  files alone are asked about
   */
  constructor(text, isWaiting, listener, edited = text, mayBeEmpty = false) {
    this.listener = listener;
    this.mayBeEmpty = mayBeEmpty;
    this.field = h("textarea", { value: edited, rows: 1, "aria-label": t("Edit your message") });
    this.send = h("button", { type: "submit", class: "primary small" }, isWaiting ? t("Save") : t("Send"));
    const cancel = h("button", { type: "button", class: "small", onclick: () => this.#close() }, t("Cancel"));
    const hint = h(
      "span",
      { class: "hint" },
      isWaiting ? t("It waits with its new text.") : t("The answers so far stay: you can go back to them."),
    );
    this.element = h(
      "form",
      { class: "edit", onsubmit: (/** @type {Event} */ event) => this.#submit(event) },
      this.field,
      h("div", { class: "row" }, hint, cancel, this.send),
    );
    this.element.addEventListener("keydown", (event) => this.#key(event));
    this.field.addEventListener("input", () => this.#onInput());
    this.#show();
  }

  focus() {
    this.field.focus();
    const { length } = this.field.value;
    this.field.setSelectionRange(length, length);
  }

  #onInput() {
    this.listener.changed(this.field.value);
    this.#show();
  }

  get #canSend() {
    return !this.isSending && (this.mayBeEmpty || this.field.value.trim() !== "");
  }

  #show() {
    this.send.disabled = !this.#canSend;
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (isComposing(event)) return;
    if (event.key === "Escape") {
      // Escape must not also stop the running answer.
      event.stopPropagation();
      this.#close();
    }
    if (event.key === "Enter" && event.target === this.field && !event.shiftKey && hasKeyboard()) this.#submit(event);
  }

  /** @param {Event} event */
  async #submit(event) {
    event.preventDefault();
    if (!this.#canSend) return;
    this.isSending = true;
    this.#show();
    const isSent = await this.listener.send(this.field.value);
    this.isSending = false;
    this.#show();
    if (isSent) this.#close();
  }

  #close() {
    this.element.remove();
    this.listener.closed();
  }
}

/**
 * Keeps the texts of edited messages that were not sent yet, as long as the page: another chat or branch may be shown,
 * which takes their editors away.
 */
export class UnsavedEdits {
  constructor() {
    /** By message. @type {Map<string, {session: string, text: string}>} */
    this.texts = new Map();
    /** The one that is shown. */
    this.session = "";
    addEventListener("beforeunload", (event) => this.texts.size > 0 && event.preventDefault());
  }

  get messages() {
    return [...this.texts.keys()];
  }

  /** @param {string} message @returns {string|undefined} */
  read(message) {
    return this.texts.get(message)?.text;
  }

  /** @param {string} message of the session that is shown @param {string} text @param {string} stored what the server has */
  keep(message, text, stored) {
    if (text === stored) this.texts.delete(message);
    else this.texts.set(message, { session: this.session, text });
  }

  /** Its edit was sent or cancelled. @param {string} message */
  forget(message) {
    this.texts.delete(message);
  }

  /** It was deleted. @param {string} deleted */
  forgetSession(deleted) {
    for (const [message, { session }] of this.texts) if (session === deleted) this.texts.delete(message);
  }
}
