/**
 * A sign at the beginning of an empty message lists what can be put there, by the names that have what is typed: "@"
 * agents, "/" saved prompts. The focus stays in the field: the list is one that a text field controls (WAI-ARIA 1.2).
 */

import { isComposing } from "../elements/text_field.js";
import { h } from "../elements/element.js";
import { icon } from "../elements/icons.js";
import { place } from "../elements/menu.js";

/** @import {IconName} from "../elements/icons.js" */
/** @typedef {{name: string, emoji?: string}} Named */

/**
 * @typedef {object} Source
 * @property {string} sign
 * @property {string} label
 * @property {IconName} icon
 * @property {() => Named[]} rows
 * @property {() => void} [begin]  the sign was typed
 * @property {(row: any) => string} pick  returns the message
 */

const MOST = 8;

/** @template {Named} T @param {string} typed behind the sign @param {T[]} rows @returns {T[]} those that are meant, the best first */
export function matching(typed, rows) {
  const wanted = typed.toLocaleLowerCase();
  const named = rows.filter(({ name }) => name.toLocaleLowerCase().includes(wanted));
  const isBegun = (/** @type {T} */ { name }) => name.toLocaleLowerCase().startsWith(wanted);
  return [...named.filter(isBegun), ...named.filter((row) => !isBegun(row))].slice(0, MOST);
}

export class Completions {
  /** @param {HTMLTextAreaElement} field @param {Source[]} sources */
  constructor(field, sources) {
    this.field = field;
    this.sources = sources;
    /** @type {Source|undefined} */
    this.source = undefined;
    /** @type {Named[]} */
    this.rows = [];
    this.at = 0;
    this.list = h("div", { class: "menu", role: "listbox", id: "completions", popover: "manual" });
    field.closest("main").append(this.list);
    field.addEventListener("input", () => this.#onInput());
    // Clicks on the list do not take the focus from the field.
    this.list.addEventListener("pointerdown", (event) => event.preventDefault());
    field.addEventListener("blur", () => this.#close());
    field.addEventListener("keydown", (event) => this.#onKey(event));
  }

  /** The rows have come, or changed. */
  update() {
    const { value } = this.field;
    this.source = this.sources.find(({ sign }) => value.startsWith(sign));
    this.rows = this.source ? matching(value.slice(1), this.source.rows()) : [];
    this.at = 0;
    if (this.rows.length === 0 || document.activeElement !== this.field) this.#close();
    else this.#show();
  }

  get #isOpen() {
    return this.list.matches(":popover-open");
  }

  #onInput() {
    const { value } = this.field;
    this.sources.find(({ sign }) => value === sign)?.begin?.();
    this.update();
  }

  #show() {
    this.list.setAttribute("aria-label", this.source.label);
    this.list.replaceChildren(...this.rows.map((row, i) => this.#option(row, i)));
    if (!this.#isOpen) this.list.showPopover();
    this.field.setAttribute("aria-controls", this.list.id);
    place(this.list, this.field);
    this.#mark();
  }

  #close() {
    if (this.#isOpen) this.list.hidePopover();
    this.field.removeAttribute("aria-controls");
    this.field.removeAttribute("aria-activedescendant");
  }

  /** @param {Named} row @param {number} i */
  #option(row, i) {
    const name = h("span", { class: "label", dir: "auto" }, row.name);
    return h(
      "div",
      { role: "option", class: "option", id: `completion-${i}`, onclick: () => this.#pick(row) },
      h("span", { class: "mark" }, row.emoji || icon(this.source.icon)),
      name,
    );
  }

  #mark() {
    [...this.list.children].forEach((option, i) => option.setAttribute("aria-selected", String(i === this.at)));
    this.field.setAttribute("aria-activedescendant", `completion-${this.at}`);
    this.list.children[this.at].scrollIntoView({ block: "nearest" });
  }

  /** Before the composer, which would send the message. @param {KeyboardEvent} event */
  #onKey(event) {
    if (!this.#isOpen || isComposing(event)) return;
    const count = this.rows.length;
    if (event.key === "ArrowDown") this.at = (this.at + 1) % count;
    else if (event.key === "ArrowUp") this.at = (this.at - 1 + count) % count;
    else if (event.key === "Enter" || event.key === "Tab") this.#pick(this.rows[this.at]);
    else if (event.key === "Escape") this.#close();
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (this.#isOpen) this.#mark();
  }

  /** @param {Named} row */
  #pick(row) {
    this.#close();
    this.field.value = this.source.pick(row);
    this.field.dispatchEvent(new Event("input"));
    this.#close(); // a prompt may begin with a sign
  }
}
