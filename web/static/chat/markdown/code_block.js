/** The view of a code block: its language, buttons to wrap, download and copy it, the lines, and what it shows as a picture. */

import { downloadCode } from "./exports.js";
import { CodeLines } from "./code_lines.js";
import { copyButton } from "../elements/copy_button.js";
import { h } from "../elements/element.js";
import { t } from "../i18n.js";
import { iconButton } from "../elements/icons.js";
import { BlockPreview } from "../preview/block_preview.js";

export class CodeBlock {
  /** @param {Element} pre fresh from the sanitiser, holds the code */
  constructor(pre) {
    this.language = "";
    this.label = h("span", { class: "language" });
    this.code = h("code");
    const download = iconButton(t("Download code"), "download", () => downloadCode(this.text, this.language));
    const buttons = h(
      "span",
      { class: "buttons" },
      wrapButton(),
      download,
      copyButton(t("Copy code"), () => this.text),
    );
    // Focusable, so that wide code can be scrolled by keyboard.
    const code = h("pre", { tabIndex: 0 }, this.code);
    this.element = h("div", { class: "code" }, h("div", { class: "code-head" }, this.label, buttons), code);
    this.preview = new BlockPreview({ block: this.element, code, buttons });
    this.lines = new CodeLines(this.code);
    this.tryUpdate(pre);
  }

  /** @param {Element} fresh */
  tryUpdate(fresh) {
    if (fresh.nodeName !== "PRE") return false;
    this.language = /language-(\S+)/.exec(fresh.firstElementChild?.className ?? "")?.[1] ?? "";
    this.text = fresh.textContent.replace(/\n$/, "");
    const name = this.language || t("text");
    if (this.label.textContent !== name) this.label.textContent = name;
    const language = this.language.toLowerCase();
    this.lines.show(this.text, language);
    this.preview.show({ text: this.text, language, isWhole: !fresh.classList.contains("unfinished") });
    return true;
  }
}

// Whether long lines of code are wrapped: one choice for all code on the page, which the browser remembers.
const KEPT_AS = "turnwire.wrapCode";

const isWrapped = () => localStorage.getItem(KEPT_AS) === "yes";

/** The button in the head of a code block. */
function wrapButton() {
  return iconButton(t("Wrap lines"), "wrap", toggle, {
    class: "icon-button wrap-lines",
    "aria-pressed": String(isWrapped()),
  });
}

function toggle() {
  localStorage.setItem(KEPT_AS, isWrapped() ? "no" : "yes");
  show();
}

function show() {
  const wrapped = isWrapped();
  document.documentElement.classList.toggle("wrapped-code", wrapped);
  for (const button of document.querySelectorAll(".wrap-lines")) button.setAttribute("aria-pressed", String(wrapped));
}

// Chosen in another tab.
addEventListener("storage", ({ key }) => key === KEPT_AS && show());
show();
