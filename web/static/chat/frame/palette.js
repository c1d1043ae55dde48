/**
 * The palette: a field that finds actions, agents, projects, knowledge bases and chats, and a list of what it has found, which
 * the field controls (WAI-ARIA 1.2, combobox with a listbox). Loaded with the first use.
 */

import { pageEntries, recentChats, searchChats, withWords } from "./palette_entries.js";
import { isComposing } from "../elements/text_field.js";
import { dialog, open } from "../elements/dialogs.js";
import { h } from "../elements/element.js";
import { icon } from "../elements/icons.js";
import { t, tn } from "../i18n.js";
import { matchParts } from "../conversation/search_marks.js";

/** @import {Entry, Page} from "./palette_entries.js" */

const PAUSE_MS = 200;

/** @param {Page} page */
export function openPalette(page) {
  new Palette(page);
}

class Palette {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    /** What the server has found for the text in the field, or was asked for one before it. @type {Entry[]} */
    this.chats = [];
    /** @type {Entry[]} */
    this.shown = [];
    this.at = 0;
    this.timer = 0;
    this.list = h("div", { role: "listbox", id: "palette-list", class: "menu", "aria-label": t("Found") });
    this.status = h("p", { class: "hint", role: "status" });
    this.field = h("input", {
      type: "text",
      role: "combobox",
      autocomplete: "off",
      enterKeyHint: "go",
      placeholder: t("Find chats and actions"),
      "aria-label": t("Find chats and actions"),
      "aria-autocomplete": "list",
      "aria-expanded": "true",
      "aria-controls": this.list.id,
    });
    this.dialog = dialog(
      t("Find chats and actions"),
      { class: "palette", closed: () => clearTimeout(this.timer) },
      this.list,
      this.status,
    );
    const head = this.dialog.querySelector(".dialog-head");
    head.querySelector("h2").className = "unseen";
    head.prepend(icon("search"), this.field);
    this.field.addEventListener("input", () => this.#onInput());
    this.field.addEventListener("keydown", (event) => this.#onKey(event));
    // Clicks on the list do not take the focus from the field.
    this.list.addEventListener("pointerdown", (event) => event.preventDefault());
    page.sidebar.closeDrawer();
    open(this.dialog);
    this.field.focus();
    this.#show();
    page.knowledge
      .load()
      .then(({ store }) => store.ready)
      .then(() => this.#show(this.at))
      .catch(this.page.failures.failed);
  }

  get #query() {
    return this.field.value.trim();
  }

  #onInput() {
    clearTimeout(this.timer);
    this.chats = [];
    if (this.#query) this.timer = setTimeout(() => this.#search(), PAUSE_MS);
    this.#show();
  }

  async #search() {
    const query = this.#query;
    const found = await searchChats(this.page, query).catch(() => /** @type {null} */ (null));
    if (query !== this.#query) return;
    this.chats = found ?? [];
    this.#show(this.at);
    if (!found) this.status.textContent = t("Chats cannot be searched now.");
    else
      this.status.textContent = this.shown.length
        ? tn("%(count)s result", "%(count)s results", this.shown.length)
        : t("Nothing has this");
  }

  /** What the server finds stands last, so that it moves nothing that may be chosen already. @param {number} [at] */
  #show(at = 0) {
    if (!this.dialog.open) return;
    const known = withWords(pageEntries(this.page), this.#query);
    this.shown = this.#query ? [...known, ...this.chats] : [...recentChats(this.page), ...known];
    this.status.textContent = "";
    const groups = Map.groupBy(this.shown, ({ group }) => group);
    this.shown = [...groups.values()].flat();
    this.list.replaceChildren(...[...groups].map(([name, entries]) => this.#group(name, entries)));
    this.#mark(Math.min(at, Math.max(0, this.shown.length - 1)));
  }

  /** @param {string} name @param {Entry[]} entries */
  #group(name, entries) {
    const options = entries.map((entry) => this.#option(entry, this.shown.indexOf(entry)));
    return h(
      "div",
      { role: "group", "aria-label": name },
      h("div", { class: "group-name", "aria-hidden": "true" }, name),
      ...options,
    );
  }

  /** @param {Entry} entry @param {number} i */
  #option(entry, i) {
    const mark = entry.emoji || (typeof entry.icon === "string" ? icon(entry.icon) : (entry.icon ?? null));
    const match =
      entry.match &&
      h(
        "small",
        {},
        ...matchParts(entry.match, this.#query).map(({ text, isFound }) => (isFound ? h("mark", {}, text) : text)),
      );
    const label = h(
      "span",
      { class: "label", dir: "auto" },
      entry.label,
      match || (entry.hint && h("small", {}, entry.hint)),
    );
    const option = h(
      "div",
      { role: "option", class: "option", id: `palette-${i}`, onclick: () => this.#choose(entry) },
      h("span", { class: "mark" }, mark),
      label,
    );
    // Not where the list is scrolled below a pointer that rests.
    option.addEventListener("pointermove", () => i !== this.at && this.#mark(i, false));
    return option;
  }

  /** @param {number} at @param {boolean} [scrolls] */
  #mark(at, scrolls = true) {
    this.at = at;
    const options = [...this.list.querySelectorAll("[role=option]")];
    options.forEach((option, i) => option.setAttribute("aria-selected", String(i === at)));
    if (!options[at]) return this.field.removeAttribute("aria-activedescendant");
    this.field.setAttribute("aria-activedescendant", options[at].id);
    // With the name of its group, where it is the first.
    if (at === 0) this.list.scrollTop = 0;
    else if (scrolls) options[at].scrollIntoView({ block: "nearest" });
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    if (isComposing(event)) return;
    const count = this.shown.length;
    if (event.key === "ArrowDown" && count) this.#mark((this.at + 1) % count);
    else if (event.key === "ArrowUp" && count) this.#mark((this.at - 1 + count) % count);
    else if (event.key === "Enter" && count) this.#choose(this.shown[this.at]);
    else if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) this.dialog.close();
    else return;
    event.preventDefault();
  }

  /** @param {Entry} entry */
  #choose({ action }) {
    this.dialog.close();
    // Closing restores the focus; the action may move it afterwards.
    setTimeout(action);
  }
}
