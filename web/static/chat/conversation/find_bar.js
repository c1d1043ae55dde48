/** The bar that finds words in the open chat, and goes to its beginning or to a date. Loaded on first use. */

import * as api from "../server/api.js";
import { isComposing } from "../elements/text_field.js";
import { h } from "../elements/element.js";
import { iconButton } from "../elements/icons.js";
import { t } from "../i18n.js";
import { currentBranch } from "../state/branch.js";

const PAUSE_MS = 200;
const FIRST_YEAR = 1970;

/** @typedef {{seek: (message: string|null, query: string, keepsFocus?: boolean) => void, reveal: (id: string) => void, failed: (error: any) => void}} Page */

export class FindBar {
  /** @param {HTMLElement} below the bar stands under it @param {string} session @param {Page} page */
  constructor(below, session, page) {
    this.session = session;
    this.page = page;
    /** @type {string[]} the messages that were found, in the order they were sent */
    this.found = [];
    this.at = 0;
    this.field = h("input", {
      type: "search",
      placeholder: t("Find in this chat"),
      "aria-label": t("Find in this chat"),
      oninput: () => this.#later(),
    });
    this.field.addEventListener("keydown", (event) => this.#key(event));
    this.count = h("span", { role: "status" });
    this.date = h("input", {
      type: "date",
      "aria-label": t("Go to a date"),
      title: t("Go to a date"),
      onchange: () => this.#goToDate(),
    });
    this.steps = [
      iconButton(t("Found before"), "chevronUp", () => this.#step(-1)),
      iconButton(t("Found next"), "chevronDown", () => this.#step(1)),
    ];
    const beginning = h(
      "button",
      { type: "button", class: "quiet", onclick: () => this.#goToBeginning() },
      t("Beginning"),
    );
    const places = h("span", { class: "places" }, beginning, this.date);
    this.element = h(
      "div",
      { id: "find", role: "search" },
      this.field,
      this.count,
      ...this.steps,
      places,
      iconButton(t("Close"), "close", () => this.close()),
    );
    this.element.addEventListener(
      "keydown",
      (event) => event.key === "Escape" && (event.stopPropagation(), this.close()),
    );
    below.after(this.element);
    this.#show();
  }

  focus() {
    this.field.select();
    this.field.focus();
  }

  /** Shows which of the messages this is. @param {string} query @param {string} message */
  async begin(query, message) {
    this.field.value = query;
    if (await this.#find()) this.at = Math.max(0, this.found.indexOf(message));
    this.#show();
  }

  close() {
    clearTimeout(this.timer);
    this.element.remove();
    this.page.seek(null, "");
  }

  #later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#search(), PAUSE_MS);
  }

  /** The newest comes first: most readers are at the end of a chat. */
  async #search() {
    if (!(await this.#find())) return;
    this.at = this.found.length - 1;
    this.#go();
  }

  /** @returns {Promise<boolean>} false: other words are asked for meanwhile, the bar was closed, or they could not be asked for */
  async #find() {
    const query = this.query;
    try {
      const found = query ? await api.findMessages(this.session, query) : [];
      if (query !== this.query || !this.element.isConnected) return false;
      this.found = found.map(({ message }) => message);
      return true;
    } catch (error) {
      this.page.failed(error);
      return false;
    }
  }

  get query() {
    return this.field.value.trim();
  }

  /** @param {number} by */
  #step(by) {
    this.at = (this.at + by + this.found.length) % this.found.length;
    this.#go();
  }

  #go() {
    this.#show();
    this.page.seek(this.found[this.at] ?? null, this.query, true);
  }

  #show() {
    const { length } = this.found;
    for (const button of this.steps) button.disabled = length < 2;
    this.count.textContent =
      length > 0 ? t("%(number)s of %(count)s", { number: this.at + 1, count: length }) : this.query && t("Not found");
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (isComposing(event) || event.key !== "Enter" || this.found.length === 0) return;
    event.preventDefault();
    this.#step(event.shiftKey ? 1 : -1);
  }

  #goToBeginning() {
    this.#reveal((branch) => branch[0]);
  }

  #goToDate() {
    const from = new Date(`${this.date.value}T00:00`);
    // A year that is being typed is a date after each digit.
    if (from.getFullYear() >= FIRST_YEAR)
      this.#reveal((branch) => branch.find((node) => new Date(node.sent_at) >= from) ?? branch.at(-1));
  }

  /** @param {(branch: import("../types.js").TreeNode[]) => import("../types.js").TreeNode|undefined} choose */
  async #reveal(choose) {
    try {
      const node = choose(currentBranch(await api.readTree(this.session)));
      if (node && this.element.isConnected) this.page.reveal(node.id);
    } catch (error) {
      this.page.failed(error);
    }
  }
}
