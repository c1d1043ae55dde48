/**
 * One provider in the dialog: its state, whether it is enabled, a test, and its models. Checks are made by a worker and
 * read until they end; texts say what the server did, and what to do about it.
 */

import { apiErrorText, RUN_ERRORS } from "../answer/status_texts.js";
import {
  addModel,
  editModel,
  editProvider,
  checkProvider,
  readProvider,
  saveModels,
  saveProvider,
} from "./provider_forms.js";
import { h } from "../elements/element.js";
import { icon } from "../elements/icons.js";
import { t, language, tn } from "../i18n.js";
import { ProviderModels } from "./provider_models.js";

/** @import {Provider, CheckError, ProviderCheck} from "./provider_forms.js" */

const POLL_MS = 1000;
/** A check may take two minutes; without a worker it never ends. */
const PATIENCE_MS = 150_000;

export class ProviderView {
  /** @param {Provider} provider @param {{canStoreKeys: boolean, back: () => void}} options */
  constructor(provider, { canStoreKeys, back }) {
    this.provider = provider;
    this.canStoreKeys = canStoreKeys;
    this.isLeft = false;
    this.title = h("h3", { dir: "auto" });
    this.address = h("p", { class: "hint" });
    this.status = h("p", { class: "provider-status", role: "status" });
    this.problem = h("p", { class: "problem", role: "alert", hidden: true });
    this.enabled = h("input", {
      type: "checkbox",
      onchange: () => this.#attempt(() => saveProvider(provider.id, { is_enabled: this.enabled.checked })),
    });
    this.test = h("button", { type: "button", onclick: () => this.check() }, icon("retry"), t("Test"));
    const edit = h("button", { type: "button", onclick: () => this.#edit() }, icon("edit"), t("Edit"));
    const add = h(
      "button",
      { type: "button", onclick: () => this.#put(addModel(provider.id)) },
      icon("plus"),
      t("Add a model by name"),
    );
    this.models = new ProviderModels({
      save: (fields) => this.#attempt(() => saveModels(provider.id, [fields])),
      edit: (model) => this.#put(editModel(provider.id, model)),
    });
    this.back = h("button", { type: "button", onclick: back }, icon("chevronLeft"), t("All providers"));
    const tools = h(
      "div",
      { class: "provider-tools" },
      h("label", { class: "box" }, this.enabled, h("span", {}, t("Enabled"))),
      this.test,
      edit,
      add,
    );
    const content = [
      h("div", {}, this.title, this.address),
      provider.is_environment ? null : tools,
      this.problem,
      this.status,
      this.models.element,
    ];
    this.element = h(
      "div",
      { class: "provider" },
      h("div", { class: "sections" }, ...content),
      h("div", { class: "row" }, this.back),
    );
    this.#draw();
    if (provider.latest_check?.status === "queued") void this.#follow();
  }

  /** Has a worker list the models and try one; the view shows it when it is done. */
  async check() {
    this.test.disabled = true;
    await this.#attempt(() => checkProvider(this.provider.id));
    await this.#follow();
    this.test.disabled = false;
  }

  /** Stops reading the result of a check. */
  leave() {
    this.isLeft = true;
  }

  async #follow() {
    const until = Date.now() + PATIENCE_MS;
    while (!this.isLeft && this.provider.latest_check?.status === "queued") {
      if (Date.now() > until)
        return this.#say(t("No worker has answered. Check that an llm worker is running, and test again."));
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      if (!this.isLeft) await this.#attempt(() => readProvider(this.provider.id));
    }
  }

  async #edit() {
    const before = this.provider.base_url;
    const saved = await this.#put(editProvider(this.provider, this.canStoreKeys));
    if (saved && saved.base_url !== before) await this.check();
  }

  /** @param {Promise<Provider|null>} asked */
  async #put(asked) {
    const saved = await asked;
    if (saved) this.#take(saved);
    return saved;
  }

  /** @param {() => Promise<Provider>} action */
  async #attempt(action) {
    try {
      this.#take(await action());
    } catch (error) {
      this.#draw();
      this.#say(apiErrorText(error));
    }
  }

  /** @param {Provider} provider as the server has it now */
  #take(provider) {
    this.provider = provider;
    this.#say("");
    this.#draw();
  }

  /** @param {string} problem empty: none */
  #say(problem) {
    this.problem.textContent = problem;
    this.problem.hidden = !problem;
  }

  #draw() {
    const { provider } = this;
    this.title.textContent = provider.is_environment ? t("Server of the environment") : provider.name;
    const key = provider.has_key === null ? "" : provider.has_key ? t("with a key") : t("without a key");
    const fixed = provider.is_environment ? t("Changed with LLM_BASE_URL and in the admin.") : "";
    this.address.textContent = [provider.base_url, key, fixed].filter(Boolean).join(" · ");
    this.enabled.checked = provider.is_enabled;
    const { text, detail, isProblem } = describeCheck(provider.latest_check);
    this.status.classList.toggle("failed", isProblem);
    this.status.hidden = !text;
    this.status.replaceChildren(
      ...(isProblem ? [icon("warning")] : []),
      h("span", {}, text, detail && h("small", { class: "hint" }, detail)),
    );
    this.models.show(provider);
  }
}

/** @type {Record<string, () => string>} */
export const PROVIDER_ERRORS = {
  address_refused: () => t("This address belongs to no model server. Enter another one."),
  redirected: () => t("The server sends requests to another address. Enter that one."),
  no_model_list: () =>
    t("The server has no list of models at this address. Usually it ends in /v1. Models can be added by name, too."),
  not_json: () => t("The server answers, but not in JSON. Check the address: usually it ends in /v1."),
  not_openai: () => t("The server answers, but not as OpenAI-compatible servers do. Check the address."),
  list_too_long: () => t("The list of models is too long. Add models by name."),
  key_unreadable: () => t("The key cannot be decrypted any more. Enter it again."),
  encryption_unavailable: () =>
    t("The llm workers cannot read the key: set SECRETS_KEYS for them too, and start them again."),
};

/** What is said to staff in other words than to those who ask questions. @type {Record<string, () => string>} */
const TO_STAFF = {
  upstream_auth: () => t("The server refuses the key. Check it and enter it again."),
  upstream_quota: () => t("The account of this key has no credit left."),
  upstream_unreachable: () =>
    t("There is no connection to the server. Check the address, and whether the llm workers can reach it."),
  upstream_timeout: () => t("The server did not answer in time."),
  model_not_found: () => t("The server does not have this model."),
};

/** @param {CheckError} error */
const checkErrorText = ({ code, message }) =>
  (PROVIDER_ERRORS[code] ?? TO_STAFF[code] ?? RUN_ERRORS[code])?.() ?? message;

/** @param {ProviderCheck|null} check @returns {{text: string, detail: string, isProblem: boolean}} */
function describeCheck(check) {
  if (check === null) return { text: "", detail: "", isProblem: false };
  if (check.status === "queued") return { text: t("A worker asks the server…"), detail: "", isProblem: false };
  const error = check.test_error ?? check.error;
  if (error) {
    const model = check.test_error && check.model ? `${check.model}: ` : "";
    return { text: model + checkErrorText(error), detail: error.detail, isProblem: true };
  }
  const listed = tn("The server has one model.", "The server has %(count)s models.", check.models.length);
  const latency = (check.latency_ms ?? 0).toLocaleString(language);
  const tried = check.model ? t("%(model)s answered in %(latency)s ms.", { model: check.model, latency }) : "";
  return { text: `${listed} ${tried}`.trim(), detail: "", isProblem: false };
}
