/** Picks the one to four models that answer next; the browser remembers the choice for each agent. */

import { h } from "../elements/element.js";
import { closeOnLeave } from "../elements/popover_details.js";
import { t, tn } from "../i18n.js";
import { icon } from "../elements/icons.js";
import { MOST, chooseModels, isSame, withPick } from "./model_choice.js";

/** @import {Agent, Model} from "../types.js" */
/** @import {Picks} from "./model_choice.js" */

const STORAGE_KEY = "turnwire.models";
/** The number of models from which a filter is shown. */
const MANY = 8;

export class ModelPicker {
  /** @param {HTMLDetailsElement} details */
  constructor(details) {
    this.details = details;
    this.summary = details.querySelector("summary");
    this.name = h("span", { class: "name" });
    this.summary.append(icon("model"), this.name, icon("chevronDown"));
    this.list = details.querySelector("fieldset");
    /** @type {Model[]} */
    this.models = [];
    /** @type {Agent|null} */
    this.agent = null;
    /** @type {HTMLInputElement[]} */
    this.boxes = [];
    this.picks = storedPicks();
    this.filter = h("input", { type: "search", placeholder: t("Filter"), "aria-label": t("Filter models"), oninput: () => this.#filter() });
    closeOnLeave(details, () => this.#resetFilter());
    addEventListener("storage", ({ key }) => key === STORAGE_KEY && this.#reloadPicks());
  }

  /** @param {Model[]} models */
  offer(models) {
    this.models = models;
    this.details.hidden = models.length === 0;
    this.boxes = models.map(({ name }) => h("input", { type: "checkbox", value: name, onchange: () => this.#storePicks() }));
    const rows = this.boxes.map((box) => h("label", {}, box, h("span", {}, box.value)));
    this.own = h("p", { class: "own" });
    const legend = h("legend", {}, t("Up to %(count)s answer side by side", { count: MOST }));
    this.list.replaceChildren(legend, models.length >= MANY ? this.filter : "", ...rows, this.own);
    this.#show();
  }

  /** Sets the session's agent, which may have its own models. @param {Agent|null} agent */
  useAgent(agent) {
    if (agent?.id === this.agent?.id && isSame(agent?.models ?? [], this.agent?.models ?? [])) return;
    this.agent = agent;
    this.#show();
  }

  /** The chosen names in the order offered; never empty once models are offered. */
  get picked() {
    return chooseModels(this.models, this.agent, this.picks);
  }

  #storePicks() {
    const names = this.boxes.filter((box) => box.checked).map((box) => box.value);
    this.picks = withPick(this.picks, this.agent, names);
    localStorage.setItem(STORAGE_KEY, JSON.stringify(this.picks));
    this.#show();
  }

  #reloadPicks() {
    this.picks = storedPicks();
    this.#show();
  }

  #show() {
    const { picked } = this;
    const names = picked.join(", ");
    this.name.textContent = picked.length > 1 ? tn("%(count)s model", "%(count)s models", picked.length) : (picked[0] ?? "");
    this.summary.title = names;
    this.summary.setAttribute("aria-label", t("Models: %(names)s", { names }));
    for (const box of this.boxes) {
      box.checked = picked.includes(box.value);
      box.disabled = !box.checked && picked.length >= MOST;
    }
    if (this.own) this.#showOwn();
  }

  /** Shows whether the agent's models or the user's picks apply, if the agent has models. */
  #showOwn() {
    const own = this.agent?.models ?? [];
    this.own.hidden = own.length === 0;
    if (own.length === 0) return;
    const { name } = this.agent;
    const isOwn = !Object.hasOwn(this.picks, this.agent.id);
    const back = h("button", { type: "button", class: "quiet", onclick: () => this.#backToOwn() }, t("Use the models of %(name)s", { name }));
    this.own.replaceChildren(isOwn ? t("The models of %(name)s", { name }) : back);
  }

  #backToOwn() {
    this.picks = withPick(this.picks, this.agent, this.agent.models);
    localStorage.setItem(STORAGE_KEY, JSON.stringify(this.picks));
    this.#show();
    this.summary.focus();
  }

  #resetFilter() {
    this.filter.value = "";
    this.#filter();
    if (this.models.length >= MANY) this.filter.focus();
  }

  #filter() {
    const wanted = this.filter.value.trim().toLowerCase();
    for (const box of this.boxes) box.parentElement.hidden = !box.value.toLowerCase().includes(wanted);
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
