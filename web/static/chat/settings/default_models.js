/** The setting of the models with which new chats begin. Each tick is stored at once. */

import { boxes, checked, group } from "../elements/forms.js";
import { h, setChildren } from "../elements/element.js";
import { t } from "../i18n.js";
import { MOST } from "../composer/model_picker.js";
import { savePreferences } from "../server/preferences_api.js";
import { onPreferences, sharePreferences } from "./tab_sync.js";

/** @import {Model, Preferences} from "../types.js" */

export class DefaultModels {
  /** @param {(error: any) => void} failed */
  constructor(failed) {
    this.failed = failed;
    /** @type {Model[]} */
    this.models = [];
    /** @type {HTMLInputElement[]} */
    this.boxes = [];
    this.hint = h("p", { class: "hint", role: "status" });
    this.element = h("div", { hidden: true });
    /** One after the other, so that what was ticked last is stored last. */
    this.saving = Promise.resolve();
    onPreferences(this.element, (preferences) => this.show(preferences));
  }

  /** @param {Model[]} models @param {Preferences} preferences */
  offer(models, preferences) {
    const names = new Map(models.map(({ name }) => [name, name]));
    this.models = models;
    this.boxes = boxes(names, []);
    for (const box of this.boxes) box.addEventListener("change", () => this.#save());
    setChildren(this.element, [group(t("Models of new chats"), this.boxes, names), this.hint]);
    this.element.hidden = models.length === 0;
    this.show(preferences);
  }

  /** @param {Preferences} preferences as stored */
  show({ models }) {
    for (const box of this.boxes) box.checked = models.includes(box.value);
    this.#limit();
    this.hint.textContent = this.#explain(models);
  }

  /** @param {string[]} chosen */
  #explain(chosen) {
    const gone = chosen.filter((name) => !this.models.some((model) => model.name === name));
    const standard = this.models.find((model) => model.is_default)?.name ?? "";
    if (chosen.length === 0) return t("Tick none to begin with those that were picked last.");
    const lost = gone.length > 0 && t("No longer offered: %(names)s", { names: gone.join(", ") });
    const instead = gone.length === chosen.length && standard && t("%(name)s answers instead.", { name: standard });
    if (lost) return [lost, instead].filter(Boolean).join(". ");
    return t("They answer unless the agent has models of its own, or others are picked in the chat.");
  }

  #save() {
    this.#limit();
    this.saving = this.saving
      .then(() => savePreferences({ models: checked(this.boxes) }))
      .then(sharePreferences)
      .catch(this.failed);
  }

  #limit() {
    const isFull = checked(this.boxes).length >= MOST;
    for (const box of this.boxes) box.disabled = isFull && !box.checked;
  }
}
