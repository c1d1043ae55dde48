/** The view of a code block: its language, a copy button, the lines. */

import { CodeLines } from "./code_lines.js";
import { copyText } from "../elements/clipboard.js";
import { h } from "../elements/element.js";
import { t } from "../i18n.js";
import { icon } from "../elements/icons.js";

const CONFIRMATION_MS = 1_500;

export class CodeBlock {
  /** @param {Element} pre fresh from the sanitiser, holds the code */
  constructor(pre) {
    this.label = h("span", { class: "language" });
    this.button = h("button", { type: "button", class: "icon-button", onclick: () => this.#copy() });
    this.code = h("code");
    this.element = h(
      "div",
      { class: "code" },
      h("div", { class: "code-head" }, this.label, this.button),
      // Focusable, so that wide code can be scrolled by keyboard.
      h("pre", { tabIndex: 0 }, this.code),
    );
    this.lines = new CodeLines(this.code);
    this.#showButton("copy", t("Copy code"));
    this.tryUpdate(pre);
  }

  /** @param {Element} fresh */
  tryUpdate(fresh) {
    if (fresh.nodeName !== "PRE") return false;
    const language = /language-(\S+)/.exec(fresh.firstElementChild?.className ?? "")?.[1] ?? "";
    this.text = fresh.textContent.replace(/\n$/, "");
    const name = language || t("text");
    if (this.label.textContent !== name) this.label.textContent = name;
    this.lines.show(this.text, language.toLowerCase());
    return true;
  }

  async #copy() {
    const isDone = await copyText(this.text);
    this.#showButton(isDone ? "check" : "copy", isDone ? t("Copied") : t("Could not copy"));
    setTimeout(() => this.#showButton("copy", t("Copy code")), CONFIRMATION_MS);
  }

  /** @param {Parameters<typeof icon>[0]} name @param {string} label */
  #showButton(name, label) {
    this.button.replaceChildren(icon(name));
    this.button.setAttribute("aria-label", label);
    this.button.title = label;
  }
}
