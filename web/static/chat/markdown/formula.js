/**
 * The view of a formula, typeset as MathML by a module that is loaded for the first one. Invalid TeX is shown as
 * source text; a formula that is still being written keeps its latest valid rendering.
 */

import { h } from "../elements/element.js";
import { sanitizeMath } from "./sanitizer.js";
import { completeTex } from "./unfinished_markdown.js";

const LONGEST = 8_000;
/** Limits of the typesetter: no links, no loading, bounded size. */
/** @type {import("temml").Options} */
const OPTIONS = { throwOnError: true, trust: false, strict: false, maxSize: [30, 300], maxExpand: 500 };

/** @type {typeof import("temml").default|null} */
let temml = null;
/** @type {Promise<void>|null} */
let loading = null;

/** Resolves when the module is loaded or loading failed; after a failure the next formula tries again. */
function load() {
  loading ??= import("temml").then(
    (module) => {
      temml = module.default;
    },
    () => {
      loading = null;
    },
  );
  return loading;
}

export class Formula {
  /** @param {Element} fresh has the TeX as its text; `display`: shown as a separate line; `open`: more will follow */
  constructor(fresh) {
    this.isBlock = fresh.nodeName === "DIV";
    this.element = this.isBlock ? h("div", { tabIndex: 0 }) : h("span");
    /** @type {string|undefined} */
    this.tex = undefined;
    this.isOpen = false;
    this.isDisplayed = false;
    this.tryUpdate(fresh);
  }

  /** @param {Element} fresh */
  tryUpdate(fresh) {
    if (!fresh.classList.contains("math") || (fresh.nodeName === "DIV") !== this.isBlock) return false;
    const isOpen = fresh.classList.contains("open");
    if (fresh.textContent === this.tex && isOpen === this.isOpen) return true;
    [this.tex, this.isOpen, this.isDisplayed] = [fresh.textContent, isOpen, fresh.classList.contains("display")];
    if (temml) this.#show();
    else this.#showLater();
    return true;
  }

  async #showLater() {
    // The element is in place, but TeX that is about to change is not shown.
    this.#setContent("math loading", this.tex);
    await load();
    this.#show();
  }

  #show() {
    const math = temml && typeset(this.isOpen ? completeTex(this.tex) : this.tex, this.isDisplayed);
    if (math) this.#setContent(this.isDisplayed ? "math display" : "math", math);
    else if (!this.isOpen || !temml) this.#setContent("math source", this.tex);
  }

  /** @param {string} name @param {Element|string} content */
  #setContent(name, content) {
    this.element.className = name;
    this.element.replaceChildren(content);
  }
}

/** @param {string} tex @param {boolean} displayMode @returns {Element|null} */
function typeset(tex, displayMode) {
  if (tex.length > LONGEST) return null;
  const holder = document.createElement("span");
  try {
    temml.render(tex, holder, { ...OPTIONS, displayMode });
  } catch {
    // Invalid TeX, or nesting so deep that it overflows the stack.
    return null;
  }
  const math = holder.querySelector("math");
  return math && sanitizeMath(math);
}
