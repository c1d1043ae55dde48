/** The choice of tools in a form: by server, with a sentence of each, all of a server at once, and a search where there are many. */

import { h } from "../elements/element.js";
import { shown } from "../elements/visible_text.js";
import { t } from "../i18n.js";
import { call } from "../server/api.js";
import { allOfServer, isConfigured, labelOf, offeredTools, toolCards, serverOf } from "./tool_texts.js";

/** From so many on, they are searched. */
const MANY = 10;
let choiceCount = 0;

/** @typedef {{input: HTMLInputElement, about: HTMLElement, row: HTMLElement}} Row */

export class ToolChoice {
  /** @param {string[]} picked @param {string[]} [ofAgent]  which cannot be taken away */
  constructor(picked, ofAgent = []) {
    this.picked = picked;
    this.ofAgent = ofAgent;
    this.id = `tools-${(choiceCount += 1)}`;
    const names = [...new Set([...offeredTools(), ...picked, ...ofAgent])];
    /** @type {Map<string, Row>} */
    this.rows = new Map(names.map((name, i) => [name, this.#row(name, i)]));
    this.search = h("input", {
      type: "text",
      class: "tool-search",
      placeholder: t("Search tools"),
      "aria-label": t("Search tools"),
      hidden: names.length < MANY,
      oninput: () => this.#find(),
    });
    this.parts = [...Map.groupBy(names, serverOf)].map(([server, some]) => this.#part(server, some));
    this.problem = h("small", { class: "field-problem", role: "alert", hidden: true });
    this.element = h(
      "fieldset",
      { class: "group tool-choice" },
      h("legend", {}, t("Tools")),
      this.search,
      ...this.parts,
      this.problem,
    );
    this.element.addEventListener("change", () => this.#showAllOf());
    this.#showAllOf();
    if (names.some(serverOf)) void this.#describe();
  }

  get control() {
    return this.rows.values().next().value.input;
  }

  /** What is chosen; all of a server stands for each of them. */
  get value() {
    return [...this.rows.values()]
      .filter(({ input }) => input.checked && !input.disabled)
      .map(({ input }) => input.value);
  }

  /** @param {string} words what is wrong; empty: nothing */
  say(words) {
    this.problem.textContent = words;
    this.problem.hidden = !words;
  }

  /** @param {string} name @param {number} i @returns {Row} */
  #row(name, i) {
    const about = h("small", { class: "hint", id: `${this.id}-${i}` }, toolCards().get(name)?.about ?? "");
    const input = h("input", {
      type: "checkbox",
      value: name,
      checked: [...this.picked, ...this.ofAgent].includes(name),
      "aria-describedby": about.id,
    });
    const notes = [
      this.ofAgent.includes(name) && t("of the agent"),
      !isConfigured(name) && t("not set up on this server"),
    ].filter(Boolean);
    const label = h("span", {}, shown(labelOf(name)), notes.length ? ` (${notes.join(", ")})` : "");
    return { input, about, row: h("div", { class: "tool-option" }, h("label", { class: "box" }, input, label), about) };
  }

  /** @param {string} server empty: our own tools @param {string[]} names */
  #part(server, names) {
    const rows = names.map((name) => this.rows.get(name));
    const isOpen = names.length < MANY || rows.some(({ input }) => input.checked);
    return h(
      "details",
      { open: isOpen },
      h("summary", {}, shown(server || t("Built in"))),
      ...rows.map(({ row }) => row),
    );
  }

  /** Under a choice of all of a server, its tools are chosen; those of the agent stay. */
  #showAllOf() {
    for (const [name, { input }] of this.rows) {
      const all = this.rows.get(allOfServer(name))?.input;
      const isUnderAll = all !== undefined && all !== input && all.checked;
      input.disabled = isUnderAll || (this.ofAgent.includes(name) && !this.picked.includes(name));
      if (isUnderAll !== (input.dataset.all !== undefined)) this.#follow(input, isUnderAll);
    }
  }

  /** Shown as chosen, until it is chosen by itself again. @param {HTMLInputElement} input @param {boolean} isUnderAll */
  #follow(input, isUnderAll) {
    if (isUnderAll) {
      input.dataset.all = input.checked ? "checked" : "";
      input.checked = true;
    } else {
      input.checked = input.dataset.all === "checked";
      delete input.dataset.all;
    }
  }

  #find() {
    const wanted = this.search.value.trim().toLowerCase();
    for (const part of this.parts) {
      const rows = [...this.rows.values()].filter(({ row }) => row.parentElement === part);
      for (const { row } of rows)
        row.hidden = !`${part.firstChild.textContent} ${row.textContent}`.toLowerCase().includes(wanted);
      part.hidden = rows.every(({ row }) => row.hidden);
      if (wanted) part.open = true;
    }
  }

  /** What servers say about their tools. Without it, they can be chosen by their names. */
  async #describe() {
    /** @type {McpServerAnswer[]} */
    const servers = await call("GET", "mcp-servers/").catch(() => /** @type {McpServerAnswer[]} */ ([]));
    for (const { name, summary } of servers.flatMap(({ tools }) => tools))
      this.rows.get(name)?.about.replaceChildren(shown(summary ?? ""));
  }
}
