/** The models of one provider: those that it is known for, and those that its server lists, each with a box that offers it to everybody. */

import { h } from "../elements/element.js";
import { icon, iconButton } from "../elements/icons.js";
import { language, t, tn } from "../i18n.js";

/** @import {ListedModel, Provider, ProviderModel} from "./provider_forms.js" */

/** The number of models from which a filter is shown. */
const MANY = 8;
/** More are found with the filter. */
const MOST_SHOWN = 60;

/** @typedef {{model: ProviderModel, isStored: boolean}} Row */

export class ProviderModels {
  /** @param {{save: (fields: ProviderModelBody) => Promise<void>, edit: (model: ProviderModel) => void}} actions */
  constructor(actions) {
    this.actions = actions;
    /** @type {Row[]} */
    this.rows = [];
    this.filter = h("input", {
      type: "search",
      placeholder: t("Filter"),
      "aria-label": t("Filter models"),
      oninput: () => this.#draw(),
    });
    this.list = h("ul", { class: "rows provider-models" });
    this.more = h("p", { class: "hint" });
    this.element = h(
      "section",
      { "aria-label": t("Models") },
      h("h3", {}, t("Models")),
      this.filter,
      this.list,
      this.more,
    );
  }

  /** @param {Provider} provider */
  show(provider) {
    const known = provider.models.map((model) => ({ model, isStored: true }));
    const names = new Set(provider.models.map(({ upstream_name }) => upstream_name));
    const listed = (provider.latest_check?.models ?? []).filter(({ id }) => !names.has(id));
    this.isFixed = provider.is_environment;
    this.rows = [...known.sort(byUse), ...listed.map((model) => ({ model: unknownModel(model), isStored: false }))];
    this.filter.hidden = this.rows.length < MANY;
    this.element.hidden = this.rows.length === 0;
    this.#draw();
  }

  #draw() {
    const wanted = this.filter.value.trim().toLowerCase();
    const found = this.rows.filter(({ model }) =>
      `${model.name} ${model.upstream_name}`.toLowerCase().includes(wanted),
    );
    const focused = /** @type {HTMLElement|null} */ (document.activeElement)?.dataset.key;
    this.list.replaceChildren(...found.slice(0, MOST_SHOWN).map((row) => this.#row(row)));
    if (focused)
      /** @type {HTMLElement|null} */ (this.list.querySelector(`[data-key="${CSS.escape(focused)}"]`))?.focus();
    const left = found.length - MOST_SHOWN;
    this.more.textContent = left > 0 ? tn("One more: filter for it.", "%(count)s more: filter for them.", left) : "";
  }

  /** @param {Row} row */
  #row({ model, isStored }) {
    const about = h("small", { class: "hint" }, aboutModel(model, isStored));
    const text = h("span", { class: "texts" }, h("span", { class: "name", dir: "auto" }, model.name), about);
    if (this.isFixed) return h("li", {}, icon("model"), text);
    const box = h("input", {
      type: "checkbox",
      checked: model.enabled,
      onchange: () => this.#enable(model, isStored, box),
    });
    box.dataset.key = `box ${model.upstream_name}`;
    const label = t("Settings of %(name)s", { name: model.name });
    const edit = isStored && iconButton(label, "settings", () => this.actions.edit(model));
    if (edit) edit.dataset.key = `edit ${model.upstream_name}`;
    return h("li", {}, h("label", { class: "box" }, box, text), edit);
  }

  /** @param {ProviderModel} model @param {boolean} isStored @param {HTMLInputElement} box */
  async #enable(model, isStored, box) {
    const { upstream_name, context_window, prompt_price, completion_price } = model;
    const told = isStored ? {} : { context_window, prompt_price, completion_price };
    box.disabled = true;
    await this.actions.save({ upstream_name, enabled: box.checked, ...told });
    box.disabled = false;
  }
}

/** Enabled ones first. @param {Row} one @param {Row} other */
const byUse = (one, other) =>
  Number(other.model.enabled) - Number(one.model.enabled) || one.model.name.localeCompare(other.model.name, language);

/** @param {ListedModel} listed @returns {ProviderModel} as it would be stored */
const unknownModel = ({ id, context_window, prompt_price, completion_price }) => ({
  name: id,
  upstream_name: id,
  enabled: false,
  is_default: false,
  context_window: Math.max(context_window ?? 128_000, 512),
  supports_vision: false,
  supports_tools: true,
  prompt_price,
  cached_price: null,
  completion_price,
});

/** @param {ProviderModel} model @param {boolean} isStored */
function aboutModel(model, isStored) {
  const count = model.context_window.toLocaleString(language);
  const price =
    model.prompt_price !== null &&
    model.completion_price !== null &&
    t("%(prompt)s / %(completion)s per million", {
      prompt: priceText(model.prompt_price),
      completion: priceText(model.completion_price),
    });
  const other = model.name !== model.upstream_name && model.upstream_name;
  return [other, isStored && t("%(count)s tokens", { count }), price, model.is_default && t("default model")]
    .filter(Boolean)
    .join(" · ");
}

/** @param {string} price */
const priceText = (price) => Number(price).toLocaleString(language, { maximumFractionDigits: 6 });
