/**
 * Shows code as coloured lines. While it grows, only its newest part is highlighted again: the lines before a line that
 * starts outside any string or comment are final. A part is small enough to be highlighted within one frame. The
 * highlighter is loaded for the first code block that can use it.
 */

import { h } from "../elements/element.js";

const PART = 3_000;
/** A longer string or comment is not coloured. */
const LONGEST_PART = 24_000;
/** Larger amounts are highlighted while the browser is idle. */
const AT_ONCE = 9_000;

export class CodeLines {
  /** @param {HTMLElement} element emptied and owned by this */
  constructor(element) {
    this.element = element;
    this.element.replaceChildren();
    this.text = "";
    this.language = "";
    this.#startOver();
  }

  /** @param {string} text @param {string} language */
  show(text, language) {
    if (language !== this.language || !text.startsWith(this.text)) this.#startOver();
    [this.text, this.language] = [text, language];
    if (text.length - this.finished > AT_ONCE || (language && !isHighlighterLoaded())) {
      this.#drawRest(plainLines(text.slice(this.finished)));
      this.#paintLater();
    } else {
      while (this.#paintPart());
    }
  }

  #startOver() {
    /** The number of characters and of lines that are final. */
    this.finished = 0;
    this.finishedLines = 0;
    /** The content of the lines after them, as JSON. @type {string[]} */
    this.shown = [];
  }

  async #paintLater() {
    if (this.isWaiting || !this.language) return;
    this.isWaiting = true;
    await loadHighlighter();
    await idle();
    this.isWaiting = false;
    if (isHighlighterLoaded() && this.#paintPart()) this.#paintLater();
  }

  /** @returns {boolean} whether there is more to paint */
  #paintPart() {
    for (let size = PART; ; size *= 2) {
      const part = this.#nextPart(size);
      const isLast = this.finished + part.length === this.text.length;
      const lines = (size <= LONGEST_PART && highlight(part, this.language)) || plainLines(part);
      if (isLast && part.length <= PART) return this.#drawRest(lines);
      const whole = lines.slice(0, -1).findLastIndex((line) => line.isWhole) + 1;
      if (whole > 0) return this.#finish(lines.slice(0, whole));
      if (isLast || size > LONGEST_PART) return this.#drawRest(lines);
    }
  }

  /** The next characters, to the end of a line. @param {number} size */
  #nextPart(size) {
    const end = this.text.indexOf("\n", this.finished + size);
    return this.text.slice(this.finished, end === -1 ? undefined : end + 1);
  }

  /** @param {Line[]} lines */
  #finish(lines) {
    lines.forEach((line, i) => this.#drawLine(i, line));
    this.finished += lines.reduce(
      (sum, { runs }) => sum + runs.reduce((length, [, text]) => length + text.length, 0),
      0,
    );
    this.finishedLines += lines.length;
    this.shown.splice(0, lines.length);
    return this.finished < this.text.length;
  }

  /** Draws all lines after the finished ones; returns false, as nothing is left to paint. @param {Line[]} lines */
  #drawRest(lines) {
    const wanted = lines.at(-1)?.runs.length ? lines : lines.slice(0, -1);
    wanted.forEach((line, i) => this.#drawLine(i, line));
    this.shown.length = wanted.length;
    while (this.element.children.length > this.finishedLines + wanted.length) this.element.lastElementChild.remove();
    return false;
  }

  /** @param {number} i counted from the first that is not finished @param {Line} line */
  #drawLine(i, { runs }) {
    const key = JSON.stringify(runs);
    if (this.shown[i] === key) return;
    this.shown[i] = key;
    const old = this.element.children[this.finishedLines + i];
    const children = runs.map(([kind, text]) => (kind ? h("span", { class: kind }, text) : text));
    if (old) old.replaceChildren(...children);
    else this.element.append(h("span", { class: "line" }, ...children));
  }
}

/** Resolves when the browser is idle. */
function idle() {
  const { requestIdleCallback } = window;
  return new Promise((resolve) =>
    requestIdleCallback ? requestIdleCallback(resolve, { timeout: 500 }) : setTimeout(resolve),
  );
}

/** Longer lines are generated, not written by people. */
const LONGEST_LINE = 2_000;

/** @type {typeof import("./highlighter.js")|null} */
let loaded = null;
/** @type {(html: string) => Line[]} */
let parseLines;
/** @type {Promise<void>|null} */
let loading = null;

/** Resolves when the highlighter is loaded or loading failed; without it (offline, say) code stays plain. */
export function loadHighlighter() {
  loading ??= Promise.all([import("./highlighter.js"), import("./highlighted_lines.js")]).then(
    ([module, lines]) => {
      parseLines = lines.parseLines;
      loaded = module;
    },
    () => {
      loading = null;
    },
  );
  return loading;
}

const isHighlighterLoaded = () => loaded !== null;

/**
 * @param {string} code
 * @param {string} language as it was written after the fence
 * @returns {Line[]|null} null: the language is not supported
 */
export function highlight(code, language) {
  if (!loaded?.prepare(language)) return null;
  if (code.split("\n").some((line) => line.length > LONGEST_LINE)) return null;
  return parseLines(loaded.highlightCode(code, language));
}

/**
 * @typedef {[kind: string, text: string]} Run  kind: a class of markdown.css, "" for plain
 * @typedef {{runs: Run[], isWhole: boolean}} Line  isWhole: nothing that began in it goes on in the next
 */

/** @param {string} text @returns {Line[]} */
export function plainLines(text) {
  return text
    .split(/(?<=\n)/)
    .concat(text.endsWith("\n") ? [""] : [])
    .map((line) => ({ runs: line ? [["", line]] : [], isWhole: true }));
}
