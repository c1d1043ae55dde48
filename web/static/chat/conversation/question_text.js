/** The view of a question's text: Markdown by the rules of answers, in which each line break is kept. */

import { h } from "../elements/element.js";
import { MarkdownView } from "../markdown/markdown.js";

/** Longer texts are pasted material: shown as typed, at once. */
const LONGEST_RENDERED = 20_000;

export class QuestionText {
  constructor() {
    this.element = h("div", { class: "question-text" });
    /** @type {string|undefined} */
    this.text = undefined;
    /** @type {MarkdownView|null} */
    this.view = null;
  }

  /** @param {string} text */
  show(text) {
    if (text === this.text) return;
    this.text = text;
    const isPlain = text.length > LONGEST_RENDERED;
    this.element.classList.toggle("plain", isPlain);
    this.element.classList.toggle("markdown", !isPlain);
    if (isPlain) this.#showPlain(text);
    else this.#rendered().show(text);
  }

  /** @param {string} text */
  #showPlain(text) {
    this.view = null;
    this.element.textContent = text;
  }

  #rendered() {
    if (!this.view) this.element.replaceChildren();
    return (this.view ??= new MarkdownView(this.element, { breaks: true }));
  }
}
