/** REST calls of providers of models, for staff. Keys are sent and never received. */

import { call } from "../server/api.js";

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
