/** Shows long pasted texts as chips above the field, to preview, insert or remove. */

import { dialog, open } from "../elements/dialogs.js";
import { h } from "../elements/element.js";
import { language, t } from "../i18n.js";
import { icon } from "../elements/icons.js";
import { preview } from "./pasted_texts.js";

export class PastedView {
  /**
   * @param {HTMLElement} list
   * @param {{changed: () => void, unfold: (text: string) => void, attach: (text: string) => void}} listener
   */
  constructor(list, listener) {
    this.list = list;
    this.listener = listener;
    /** @type {string[]} */
    this.texts = [];
  }

  /** @param {string} text */
  add(text) {
    this.show([...this.texts, text]);
    this.listener.changed();
  }

  /** @param {string[]} texts */
  show(texts) {
    this.texts = texts;
    this.list.hidden = texts.length === 0;
    this.list.replaceChildren(...texts.map((text, i) => this.#chip(text, i)));
  }

  /** @param {string} text @param {number} i */
  #chip(text, i) {
    const size = t("Pasted text, %(count)s characters", { count: text.length.toLocaleString(language) });
    const move = (/** @type {(text: string) => void} */ take) => () => {
      this.#remove(i);
      take(text);
    };
    const show = () =>
      openPasted(size, text, { unfold: move(this.listener.unfold), attach: move(this.listener.attach) });
    const face = h("span", { class: "face" }, h("span", {}, size), h("small", {}, preview(text)));
    const unfold = h(
      "button",
      { type: "button", class: "unfold", title: t("Show the text"), onclick: show },
      icon("file"),
      face,
    );
    const label = t("Remove: %(what)s", { what: size });
    const remove = h(
      "button",
      { type: "button", class: "icon-button", "aria-label": label, title: t("Remove"), onclick: () => this.#remove(i) },
      icon("close"),
    );
    return h("li", { class: "chip" }, unfold, remove);
  }

  /** @param {number} i */
  #remove(i) {
    this.show(this.texts.filter((_, at) => at !== i));
    this.listener.changed();
  }
}

/** Shows a long text, and puts it elsewhere: into the field, or among the files. @param {string} heading @param {string} text @param {{unfold: () => void, attach: () => void}} actions */
function openPasted(heading, text, { unfold, attach }) {
  const button = (/** @type {string} */ label, /** @type {() => void} */ action) => {
    const onclick = () => {
      element.close();
      action();
    };
    return h("button", { type: "button", onclick }, label);
  };
  const body = h(
    "pre",
    { class: "file-text", tabIndex: 0, role: "region", dir: "auto", "aria-label": t("Text") },
    text,
  );
  const row = h(
    "div",
    { class: "row" },
    button(t("Put it into the field"), unfold),
    button(t("Attach it as a file"), attach),
  );
  const element = dialog(heading, { class: "large" }, body, row);
  open(element);
}
