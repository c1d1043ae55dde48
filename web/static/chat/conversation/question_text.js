/** The view of a question's text: Markdown by the rules of answers, in which each line break is kept. Long ones are folded. */

import { h } from "../elements/element.js";
import { t } from "../i18n.js";
import { MarkdownView } from "../markdown/markdown.js";
import { isLong } from "./long_text.js";

/** Longer texts are pasted material: shown as typed, at once. */
const LONGEST_RENDERED = 20_000;

export class QuestionText {
  constructor() {
    this.shown = h("div", { class: "question-text" });
    this.more = h("button", { type: "button", class: "small", hidden: true, onclick: () => this.#toggle() });
    this.element = h("div", { class: "question-bubble" }, this.shown, this.more);
    /** @type {string|undefined} */
    this.text = undefined;
    /** @type {MarkdownView|null} */
    this.view = null;
  }

  /** @param {string} text */
  show(text) {
    if (text === this.text) return;
    this.text = text;
    this.element.classList.toggle("empty", !text);
    const isPlain = text.length > LONGEST_RENDERED;
    this.shown.classList.toggle("plain", isPlain);
    this.shown.classList.toggle("markdown", !isPlain);
    if (isPlain) this.#showPlain(text);
    else this.#rendered().show(text);
    const isFoldable = isLong(text);
    this.more.hidden = !isFoldable;
    this.#fold(isFoldable);
  }

  /** Shows all of a long text. */
  unfold() {
    this.#fold(false);
  }

  #toggle() {
    const isFolded = this.shown.classList.contains("folded");
    this.#fold(!isFolded);
    // Its beginning may be far above by now.
    if (!isFolded) this.element.scrollIntoView({ block: "nearest" });
  }

  /** @param {boolean} isFolded */
  #fold(isFolded) {
    this.shown.classList.toggle("folded", isFolded);
    if (this.more.hidden) return;
    this.more.textContent = isFolded ? t("Show more") : t("Show less");
    this.more.setAttribute("aria-expanded", String(!isFolded));
  }

  /** @param {string} text */
  #showPlain(text) {
    this.view = null;
    this.shown.textContent = text;
  }

  #rendered() {
    if (!this.view) this.shown.replaceChildren();
    return (this.view ??= new MarkdownView(this.shown, { breaks: true }));
  }
}
