/** REST calls of what MCP servers offer to be put into messages. A worker asks the server: its answer is waited for. */

import { ApiError, call } from "./api.js";

/**
 * @typedef {McpResourceAnswer} McpResource
 * @typedef {McpPromptAnswer} McpPrompt
 * @typedef {McpCatalogAnswer} McpCatalog  what an MCP server offers to be put into messages
 */

const ASK_EVERY_MS = 400;

/** @returns {Promise<McpCatalog[]>} */
export const readCatalogs = () => call("GET", "mcp-catalogs/");

/** @param {string} server @param {string} uri @returns {Promise<FileAnswer>} */
export async function attachResource(server, uri) {
  const { file } = await answerTo(await call("POST", `mcp-servers/${server}/resources/`, { uri }));
  if (!file) throw new ApiError(404, "file_not_found", "");
  return file;
}

/** @param {string} server @param {string} name @param {Record<string, string>} values @returns {Promise<string>} */
export const fillPrompt = async (server, name, values) =>
  (await answerTo(await call("POST", `mcp-servers/${server}/prompts/`, { name, arguments: values }))).text;

/** @param {McpRequestAnswer} request @returns {Promise<McpRequestAnswer>} the server fails what nobody answers */
async function answerTo(request) {
  while (request.status === "waiting") {
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
    request = await call("GET", `mcp-requests/${request.id}/`);
  }
  if (request.error) throw new ApiError(409, request.error.code, request.error.message);
  return request;
}
