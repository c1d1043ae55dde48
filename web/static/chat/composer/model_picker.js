/**
 * Picks the one to four models that answer next. A click on a name switches to that model alone; the boxes beside the
 * names choose several. The choice belongs to the session; new chats begin with what this browser picked last. Which
 * models answer is decided by pure functions.
 */

import { h } from "../elements/element.js";
import { closeOnLeave } from "../elements/menu.js";
import { t } from "../i18n.js";
import { icon } from "../elements/icons.js";

/** @import {Agent, Model} from "../types.js" */

const STORAGE_KEY = "turnwire.models";
/** The number of models from which a filter is shown. */
const MANY = 8;

/** @typedef {{name: string, button: HTMLButtonElement, box: HTMLInputElement, element: HTMLElement}} Row */

export class ModelPicker {
  /** @param {HTMLDetailsElement} details @param {(names: string[]) => void} choose */
  constructor(details, choose) {
    this.details = details;
    this.choose = choose;
    this.summary = details.querySelector("summary");
    this.name = h("span", { class: "name" });
    this.summary.append(icon("model"), this.name, icon("chevronDown"));
    this.list = details.querySelector("fieldset");
    /** @type {Model[]} */
    this.models = [];
    /** @type {Agent|null} */
    this.agent = null;
    /** The session's. @type {string[]} */
    this.own = [];
    /** @type {Row[]} */
    this.rows = [];
    this.picks = storedPicks();
    this.note = h("p", { class: "own" });
    this.filter = h("input", {
      type: "search",
      placeholder: t("Filter"),
      "aria-label": t("Filter models"),
      oninput: () => this.#filter(),
    });
    closeOnLeave(details, () => this.#resetFilter());
    addEventListener("storage", ({ key }) => key === STORAGE_KEY && this.#reloadPicks());
  }

  /** @param {Model[]} models */
  offer(models) {
    this.models = models;
    this.details.hidden = models.length === 0;
    this.rows = models.map(({ name }) => this.#row(name));
    const legend = h("legend", {}, t("Who answers in this chat"));
    const hint = h("p", { class: "comparing" }, t("Up to %(count)s answer side by side", { count: MOST }));
    this.list.replaceChildren(
      legend,
      models.length >= MANY ? this.filter : "",
      ...this.rows.map(({ element }) => element),
      hint,
      this.note,
    );
    this.#show();
  }

  /** Sets what the choice begins with: the agent, which may have its own models, and the session's models. @param {Agent|null} agent @param {string[]} own */
  use(agent, own) {
    const isKnown = agent?.id === this.agent?.id && isSame(agent?.models ?? [], this.agent?.models ?? []);
    if (isKnown && isSame(own, this.own)) return;
    this.agent = agent;
    this.own = own;
    this.#show();
  }

  /** The chosen names in the order offered; never empty once models are offered. */
  get picked() {
    return chooseModels(this.models, this.agent, this.picks, this.own);
  }

  /** @param {string} name @returns {Row} */
  #row(name) {
    const button = h(
      "button",
      { type: "button", class: "quiet", onclick: () => this.#switchTo(name) },
      icon("check"),
      h("span", {}, name),
    );
    const label = t("Compare %(name)s side by side", { name });
    const box = h("input", {
      type: "checkbox",
      value: name,
      "aria-label": label,
      title: label,
      onchange: () => this.#pick(this.#ticked()),
    });
    return { name, button, box, element: h("div", { class: "row" }, button, h("label", {}, box)) };
  }

  /** @param {string} name */
  #switchTo(name) {
    this.#pick([name]);
    this.details.open = false;
    this.summary.focus();
  }

  #ticked() {
    return this.rows.filter(({ box }) => box.checked).map(({ name }) => name);
  }

  /** @param {string[]} names none: the choice stays */
  #pick(names) {
    if (names.length > 0) {
      this.picks = withPick(this.picks, this.agent, names);
      localStorage.setItem(STORAGE_KEY, JSON.stringify(this.picks));
      this.choose(names);
    }
    this.#show();
  }

  #reloadPicks() {
    this.picks = storedPicks();
    this.#show();
  }

  #show() {
    const { picked } = this;
    const names = picked.join(", ");
    this.name.textContent = names;
    this.summary.title = names;
    this.summary.setAttribute("aria-label", t("Models: %(names)s", { names }));
    for (const { name, button, box } of this.rows) {
      box.checked = picked.includes(name);
      box.disabled = !box.checked && picked.length >= MOST;
      button.setAttribute("aria-pressed", String(box.checked));
    }
    this.#showNote(picked);
    this.details.dispatchEvent(new CustomEvent("picked", { bubbles: true }));
  }

  /** Says which of the session's models are gone, or whether the agent's models apply, if it has any. @param {string[]} picked */
  #showNote(picked) {
    const offered = this.models.map(({ name }) => name);
    const gone = this.own.filter((name) => !offered.includes(name));
    const agents = offered.filter((name) => this.agent?.models.includes(name)).slice(0, MOST);
    const name = this.agent?.name ?? "";
    const back = h(
      "button",
      { type: "button", class: "quiet", onclick: () => this.#backTo(agents) },
      t("Use the models of %(name)s", { name }),
    );
    const lost =
      gone.length > 0
        ? [h("span", { class: "gone" }, t("No longer offered: %(names)s", { names: gone.join(", ") }))]
        : [];
    const ofAgent = agents.length > 0 ? [isSame(picked, agents) ? t("The models of %(name)s", { name }) : back] : [];
    this.note.hidden = lost.length + ofAgent.length === 0;
    this.note.replaceChildren(...lost, ...ofAgent);
  }

  /** @param {string[]} names of the agent */
  #backTo(names) {
    this.#pick(names);
    this.summary.focus();
  }

  #resetFilter() {
    this.filter.value = "";
    this.#filter();
    if (this.models.length >= MANY) this.filter.focus();
  }

  #filter() {
    const wanted = this.filter.value.trim().toLowerCase();
    for (const { name, element } of this.rows) element.hidden = !name.toLowerCase().includes(wanted);
  }
}

/** @returns {Picks} */
function storedPicks() {
  try {
    const picks = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? "{}");
    if (Array.isArray(picks)) return { "": picks }; // the format of earlier releases, without agents
    return picks && typeof picks === "object" ? picks : {};
  } catch {
    return {};
  }
}

export const MOST = 4;

/** @typedef {Record<string, string[]>} Picks  names by the agent they were picked with; "" without one */

/**
 * @param {Model[]} models those offered
 * @param {Agent|null} agent
 * @param {Picks} picks
 * @param {string[]} [own] the session's
 * @returns {string[]} in the order offered; never empty where models are offered
 */
export function chooseModels(models, agent, picks, own = []) {
  const offered = (/** @type {string[]|undefined} */ names) =>
    models
      .map(({ name }) => name)
      .filter((name) => names?.includes(name))
      .slice(0, MOST);
  const preferred = models.filter((model) => model.is_own_default).map(({ name }) => name);
  const wishes = [own, ...(agent ? [picks[agent.id], agent.models] : []), preferred, picks[""]].map(offered);
  const standard = models.find((model) => model.is_default) ?? models[0];
  return wishes.find((names) => names.length > 0) ?? (standard ? [standard.name] : []);
}

/**
 * Returns the picks after a new choice. Picking an agent's own models stores nothing, so that later changes of the agent apply.
 * @param {Picks} picks @param {Agent|null} agent @param {string[]} names
 * @returns {Picks}
 */
export function withPick(picks, agent, names) {
  const { [agent?.id ?? ""]: _replaced, ...others } = picks;
  const isAgents = agent !== null && isSame(names, agent.models);
  return names.length === 0 || isAgents ? others : { ...others, [agent?.id ?? ""]: names };
}

/** @param {string[]} one @param {string[]} other */
const isSame = (one, other) => one.length === other.length && one.every((name) => other.includes(name));
