/** Which one to four models answer next; remembered by the browser. */

import { h } from "./element.js";

/** @import {Model} from "./types.js" */

const MOST = 4;
const KEPT_AS = "turnwire.models";

export class ModelPicker {
  /** @param {HTMLDetailsElement} details */
  constructor(details) {
    this.details = details;
    this.summary = details.querySelector("summary");
    this.list = details.querySelector("fieldset");
    /** @type {Model[]} */
    this.models = [];
    this.kept = kept();
    document.addEventListener("click", (event) => details.contains(event.target) || (details.open = false));
    details.addEventListener("keydown", (event) => event.key === "Escape" && this.#close());
  }

  /** @param {Model[]} models */
  offer(models) {
    this.models = models;
    this.details.hidden = models.length === 0;
    this.boxes = models.map(({ name }) =>
      h("input", { type: "checkbox", value: name, checked: this.picked.includes(name), onchange: () => this.#picked() }),
    );
    const rows = this.boxes.map((box) => h("label", {}, box, h("span", {}, box.value)));
    this.list.replaceChildren(h("legend", {}, `Up to ${MOST} answer side by side`), ...rows);
    this.#show();
  }

  /** Names, in the order offered; never empty once models are offered. */
  get picked() {
    const names = this.models.map(({ name }) => name).filter((name) => this.kept.includes(name));
    const standard = this.models.find((model) => model.is_default) ?? this.models[0];
    return names.length ? names.slice(0, MOST) : standard ? [standard.name] : [];
  }

  #picked() {
    this.kept = this.boxes.filter((box) => box.checked).map((box) => box.value);
    localStorage.setItem(KEPT_AS, JSON.stringify(this.kept));
    this.#show();
  }

  #show() {
    const { picked } = this;
    this.summary.textContent = picked.length > 1 ? `${picked.length} models` : (picked[0] ?? "");
    this.summary.title = picked.join(", ");
    this.summary.setAttribute("aria-label", `Models: ${picked.join(", ")}`);
    for (const box of this.boxes) {
      box.checked = picked.includes(box.value);
      box.disabled = !box.checked && picked.length >= MOST;
    }
  }

  #close() {
    this.details.open = false;
    this.summary.focus();
  }
}

/** @returns {string[]} */
function kept() {
  try {
    const names = JSON.parse(localStorage.getItem(KEPT_AS) ?? "[]");
    return Array.isArray(names) ? names : [];
  } catch {
    return [];
  }
}
