/** REST calls about tool calls that wait for their user's approval or answer. */

import { call } from "./api.js";

/** @param {string} row  of the tool call @param {ApprovalBody} decision */
export const decide = (row, decision) => call("POST", `tool-calls/${row}/approval/`, decision);

/** @param {string} server  the id of an MCP server @returns {Promise<{url: string}>}  where the user signs in to it */
export const beginSignIn = (server) => call("POST", `mcp-servers/${server}/sign-in/`);
