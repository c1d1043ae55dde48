/**
 * The dialogs in which staff enter a provider, and what is known of one of its models, and the REST calls. Keys are
 * sent and never received.
 */

import { apiErrorText } from "../answer/status_texts.js";
import { askFor, line, boxes, checked, group } from "../elements/forms.js";
import { t } from "../i18n.js";
import { call } from "../server/api.js";

const EXAMPLES = [
  "OpenAI: https://api.openai.com/v1",
  "OpenRouter: https://openrouter.ai/api/v1",
  "Ollama: http://127.0.0.1:11434/v1",
  "vLLM: http://127.0.0.1:8000/v1",
];
/** Longer names are refused. */
const LONGEST_NAME = 200;

/** @param {Provider|null} provider null: a new one @param {boolean} canStoreKeys @returns {Promise<Provider|null>} null: cancelled */
export function editProvider(provider, canStoreKeys) {
  const stored = provider?.has_key
    ? t("A key is stored. Leave this empty to keep it.")
    : t("Stored encrypted, and never shown again. Local servers often need none.");
  const unset = t("Keys cannot be stored: set SECRETS_KEYS for web and the llm workers, and start them again.");
  const fields = {
    name: line(t("Name"), { maxLength: 100, required: true, value: provider?.name ?? "" }),
    base_url: line(
      t("Address"),
      {
        type: "url",
        maxLength: 500,
        required: true,
        value: provider?.base_url ?? "",
        placeholder: "https://api.example.com/v1",
        spellcheck: false,
      },
      EXAMPLES.join("\n"),
    ),
    api_key: line(
      t("API key"),
      { type: "password", maxLength: 2000, autocomplete: "off", disabled: !canStoreKeys },
      canStoreKeys ? stored : unset,
    ),
  };
  fields.base_url.hint.classList.add("lines");
  return askFor(provider ? t("Edit this provider") : t("Add a model provider"), {
    yes: t("Save"),
    fields,
    // The server says what is wrong with the address.
    words: (error) => (error.code === "provider_address_invalid" ? error.message : apiErrorText(error)),
    save: ({ name, base_url, api_key }) =>
      saveProvider(provider?.id ?? null, { name, base_url, ...(api_key ? { api_key } : {}) }),
  });
}

/** @param {string} id of the provider @param {ProviderModel} model @returns {Promise<Provider|null>} null: cancelled */
export function editModel(id, model) {
  const perMillion = { inputMode: "decimal", pattern: "[0-9]{1,6}([.,][0-9]{1,6})?" };
  const price = (/** @type {string} */ label, /** @type {string|null} */ value) =>
    line(label, { ...perMillion, value: value ?? "" });
  const fields = {
    name: line(t("Name for people"), { maxLength: LONGEST_NAME, required: true, value: model.name }),
    context_window: windowField(model.context_window),
    abilities: abilities(model),
    prompt_price: price(t("Price of prompts"), model.prompt_price),
    cached_price: price(t("Price of cached prompts"), model.cached_price),
    completion_price: price(t("Price of answers"), model.completion_price),
  };
  fields.completion_price.explain(t("Prices are per million tokens. Empty: unknown."));
  return askFor(model.upstream_name, {
    yes: t("Save"),
    fields,
    words: (error) =>
      error.code === "invalid_value" && error.field === "models" ? error.message : apiErrorText(error),
    save: (value) => {
      const prices = {
        prompt_price: decimal(value.prompt_price),
        cached_price: decimal(value.cached_price),
        completion_price: decimal(value.completion_price),
      };
      const known = { name: value.name, context_window: Number(value.context_window), ...value.abilities, ...prices };
      return saveModels(id, [{ upstream_name: model.upstream_name, ...known }]);
    },
  });
}

/** Of a server that has no list. @param {string} id of the provider @returns {Promise<Provider|null>} null: cancelled */
export function addModel(id) {
  const fields = {
    upstream_name: line(t("Name at the server"), { maxLength: LONGEST_NAME, required: true, spellcheck: false }),
    context_window: windowField(128_000),
  };
  const save = (/** @type {{upstream_name: string, context_window: string}} */ { upstream_name, context_window }) =>
    saveModels(id, [{ upstream_name, context_window: Number(context_window), enabled: true }]);
  return askFor(t("Add a model by name"), { yes: t("Add"), fields, save });
}

/** @param {number} tokens */
const windowField = (tokens) =>
  line(t("Context window in tokens"), {
    type: "number",
    min: 512,
    max: 100_000_000,
    required: true,
    value: String(tokens),
  });

/** @param {string} text @returns {string|null} */
const decimal = (text) => text.replace(",", ".") || null;

/** @param {ProviderModel} model */
function abilities(model) {
  const names = new Map([
    ["supports_tools", t("Uses tools")],
    ["supports_vision", t("Reads pictures")],
  ]);
  const inputs = boxes(names, [
    ...(model.supports_tools ? ["supports_tools"] : []),
    ...(model.supports_vision ? ["supports_vision"] : []),
  ]);
  return {
    element: group(t("Abilities"), inputs, names),
    control: inputs[0],
    say: () => {},
    get value() {
      const picked = checked(inputs);
      return { supports_tools: picked.includes("supports_tools"), supports_vision: picked.includes("supports_vision") };
    },
  };
}

/** @typedef {CheckErrorAnswer} CheckError */
/** @typedef {ListedModelAnswer} ListedModel */
/** @typedef {ProviderCheckAnswer} ProviderCheck */
/** @typedef {ProviderModelAnswer} ProviderModel */
/** @typedef {ProviderAnswer} Provider */

/** @returns {Promise<{can_store_keys: boolean, results: Provider[]}>} */
export const readProviders = () => call("GET", "providers/");
/** @param {string} id @returns {Promise<Provider>} */
export const readProvider = (id) => call("GET", `providers/${id}/`);
/** @param {string|null} id null: a new one @param {Partial<ProviderBody>} fields @returns {Promise<Provider>} */
export const saveProvider = (id, fields) =>
  id ? call("PATCH", `providers/${id}/`, fields) : call("POST", "providers/", fields);
/** @param {string} id */
export const deleteProvider = (id) => call("DELETE", `providers/${id}/`);
/** @param {string} id @param {ProviderModelBody[]} models @returns {Promise<Provider>} */
export const saveModels = (id, models) => call("POST", `providers/${id}/models/`, { models });
/** @param {string} id @returns {Promise<Provider>} */
export const checkProvider = (id) => call("POST", `providers/${id}/check/`, {});
