/** REST calls of saved prompts. */

import { call, readAllPages } from "../server/api.js";

/** @import {SavedPrompt} from "../types.js" */

/** @returns {Promise<SavedPrompt[]>} all, the latest changed first */
export const readPrompts = () => readAllPages("prompts/");

/** @param {string|null} id null: a new one @param {SavedPromptBody} fields @returns {Promise<SavedPrompt>} */
export const savePrompt = (id, fields) =>
  id ? call("PATCH", `prompts/${id}/`, fields) : call("POST", "prompts/", fields);

/** @param {string} id */
export const deletePrompt = (id) => call("DELETE", `prompts/${id}/`);
