/** Edits the text of an answer in its place. Ctrl+Enter saves, Escape cancels. */

import { h } from "../elements/element.js";
import { autosize, isComposing } from "../elements/text_field.js";
import { t } from "../i18n.js";

export class AnswerEditor {
  /**
   * @param {string} text
   * @param {{save: (text: string) => Promise<boolean>, changed: (text: string) => void, closed: () => void}} listener save resolves to: was it accepted
   * @param {string} [edited] what was written before
   */
  constructor(text, listener, edited = text) {
    this.text = text;
    this.listener = listener;
    this.isSaving = false;
    this.field = h("textarea", { value: edited, dir: "auto", rows: 3, "aria-label": t("Edit the answer") });
    this.save = h("button", { type: "submit", class: "primary small" }, t("Save"));
    const cancel = h("button", { type: "button", class: "small", onclick: () => this.#close() }, t("Cancel"));
    const hint = h(
      "span",
      { class: "hint" },
      t("The model reads your text from now on. Its own answer stays: you can go back to it."),
    );
    this.element = h(
      "form",
      { class: "edit", onsubmit: (/** @type {Event} */ event) => this.#submit(event) },
      this.field,
      h("div", { class: "row" }, hint, cancel, this.save),
    );
    this.element.addEventListener("keydown", (event) => this.#key(event));
    this.resize = autosize(this.field);
    this.field.addEventListener("input", () => this.#onInput());
    this.#show();
  }

  /** At the beginning: answers are long. */
  focus() {
    this.resize();
    this.field.focus();
    this.field.setSelectionRange(0, 0);
  }

  #onInput() {
    this.listener.changed(this.field.value);
    this.#show();
  }

  #show() {
    const { value } = this.field;
    this.save.disabled = this.isSaving || !value.trim() || value === this.text;
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (isComposing(event)) return;
    if (event.key === "Escape") {
      event.stopPropagation(); // it would stop an answer that is being written
      this.#close();
    }
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.#submit(event);
  }

  /** @param {Event} event */
  async #submit(event) {
    event.preventDefault();
    if (this.save.disabled) return;
    this.isSaving = true;
    this.#show();
    const isSaved = await this.listener.save(this.field.value);
    this.isSaving = false;
    this.#show();
    if (isSaved) this.#close();
  }

  #close() {
    this.element.remove();
    this.listener.closed();
  }
}
