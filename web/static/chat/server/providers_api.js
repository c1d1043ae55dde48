/** REST calls of providers of models, for staff. Keys are sent and never received. */

import { call } from "./api.js";

/** @typedef {{code: string, message: string, detail: string}} CheckError */
/** @typedef {{id: string, context_window: number|null, prompt_price: string|null, completion_price: string|null}} ListedModel */

/**
 * @typedef {object} ProviderCheck
 * @property {"queued"|"done"} status
 * @property {string} requested_at
 * @property {CheckError|null} error  why there is no list of models
 * @property {ListedModel[]} models
 * @property {string|null} model  that is tried
 * @property {CheckError|null} test_error
 * @property {number|null} latency_ms
 */

/**
 * @typedef {object} ProviderModel
 * @property {string} name
 * @property {string} upstream_name
 * @property {boolean} enabled
 * @property {boolean} is_default
 * @property {number} context_window
 * @property {boolean} supports_vision
 * @property {boolean} supports_tools
 * @property {string|null} prompt_price  per million tokens, as the other two
 * @property {string|null} cached_price
 * @property {string|null} completion_price
 */

/**
 * @typedef {object} Provider
 * @property {string} id  null: the server of the environment
 * @property {string} name
 * @property {string} base_url
 * @property {boolean} is_environment
 * @property {boolean} is_enabled
 * @property {boolean|null} has_key
 * @property {ProviderModel[]} models
 * @property {ProviderCheck|null} latest_check
 */

/** @typedef {{name?: string, base_url?: string, api_key?: string, is_enabled?: boolean}} ProviderFields */
/** @typedef {{upstream_name: string} & Partial<Omit<ProviderModel, "upstream_name"|"is_default">>} ModelFields */

/** @returns {Promise<{can_store_keys: boolean, results: Provider[]}>} */
export const readProviders = () => call("GET", "providers/");
/** @param {string} id @returns {Promise<Provider>} */
export const readProvider = (id) => call("GET", `providers/${id}/`);
/** @param {string|null} id null: a new one @param {ProviderFields} fields @returns {Promise<Provider>} */
export const saveProvider = (id, fields) => (id ? call("PATCH", `providers/${id}/`, fields) : call("POST", "providers/", fields));
/** @param {string} id */
export const deleteProvider = (id) => call("DELETE", `providers/${id}/`);
/** @param {string} id @param {ModelFields[]} models @returns {Promise<Provider>} */
export const saveModels = (id, models) => call("POST", `providers/${id}/models/`, { models });
/** @param {string} id @returns {Promise<Provider>} */
export const checkProvider = (id) => call("POST", `providers/${id}/check/`, {});
