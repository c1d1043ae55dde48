/** REST calls of what MCP servers offer to be put into messages. A worker asks the server: its answer is waited for. */

import { ApiError, call } from "./api.js";

/** @import {FileInfo} from "../types.js" */

/**
 * @typedef {{uri: string, name: string, description: string, content_type: string, size: number|null}} McpResource
 * @typedef {{name: string, title: string, description: string, arguments: {name: string, title: string, description: string, required: boolean}[]}} McpPrompt
 *
 * @typedef {object} McpCatalog  what an MCP server offers to be put into messages
 * @property {string} server
 * @property {string} name
 * @property {"ready"|"down"|"needs_sign_in"} status
 * @property {"not_needed"|"needs_sign_in"|"signed_in"} sign_in_state
 * @property {McpResource[]} resources
 * @property {McpPrompt[]} prompts
 *
 * @typedef {{id: string, status: "waiting"|"done"|"failed", text: string, file: FileInfo|null, error: {code: string, message: string}|null}} McpRequest
 */

const ASK_EVERY_MS = 400;

/** @returns {Promise<McpCatalog[]>} */
export const readCatalogs = () => call("GET", "mcp-catalogs/");

/** @param {string} server @param {string} uri @returns {Promise<FileInfo>} */
export async function attachResource(server, uri) {
  const { file } = await answerTo(await call("POST", `mcp-servers/${server}/resources/`, { uri }));
  if (!file) throw new ApiError(404, "file_not_found", "");
  return file;
}

/** @param {string} server @param {string} name @param {Record<string, string>} values @returns {Promise<string>} */
export const fillPrompt = async (server, name, values) => (await answerTo(await call("POST", `mcp-servers/${server}/prompts/`, { name, arguments: values }))).text;

/** @param {McpRequest} request @returns {Promise<McpRequest>} the server fails what nobody answers */
async function answerTo(request) {
  while (request.status === "waiting") {
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
    request = await call("GET", `mcp-requests/${request.id}/`);
  }
  if (request.error) throw new ApiError(409, request.error.code, request.error.message);
  return request;
}
