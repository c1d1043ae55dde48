/** REST calls about tool calls that wait for their user's approval or answer. */

import { call } from "./api.js";

/**
 * @typedef {object} Decision
 * @property {boolean} approved
 * @property {string} [note]  the model reads it with a refusal or an answer
 * @property {Record<string, any>} [arguments]  instead of those that the model wants
 * @property {"session"} [remember]
 * @property {Record<string, any>} [values]  the answer to a question
 */

/** @param {string} row  of the tool call @param {Decision} decision */
export const decide = (row, decision) => call("POST", `tool-calls/${row}/approval/`, decision);

/** @param {string} server  the id of an MCP server @returns {Promise<{url: string}>}  where the user signs in to it */
export const beginSignIn = (server) => call("POST", `mcp-servers/${server}/sign-in/`);
