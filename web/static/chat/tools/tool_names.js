/** Translated names of the tools that this server is set up for, for the pickers. */

import { t } from "../i18n.js";

const SEPARATOR = "__";
const ALL = "*";

/** @returns {Map<string, string>} by the names of the tools */
export const toolNames = () => new Map([...allNames()].filter(([tool]) => isConfigured(tool)));

/** The same with those that were chosen when the server had them: they can be seen and taken away. @param {string[]} chosen */
export function namesWith(chosen) {
  const offered = toolNames();
  const missing = chosen.filter((tool) => !offered.has(tool) && (allNames().has(tool) || isOfServer(tool)));
  return new Map([...offered, ...missing.map((tool) => /** @type {const} */ ([tool, t("%(name)s (not set up on this server)", { name: nameOf(tool) })]))]);
}

/** Also of a tool that is unknown here, as of another kind of server. @param {string} tool */
export function isConfigured(tool) {
  const configured = configuredTools();
  return configured === undefined || configured.includes(tool) || !(allNames().has(tool) || isOfServer(tool));
}

/** Single tools that may be called: a choice of all tools of an MCP server stands for each of them. @param {string[]} chosen */
export function singleTools(chosen) {
  const ofServers = (configuredTools() ?? []).filter((tool) => isOfServer(tool) && !tool.endsWith(ALL));
  const stands = (/** @type {string} */ tool) => (tool.endsWith(SEPARATOR + ALL) ? ofServers.filter((one) => one.startsWith(tool.slice(0, -1))) : [tool]);
  return [...new Set(chosen.flatMap(stands))].filter(isConfigured);
}

/** As people read it: `time__now` is "time: now". @param {string} tool */
export function nameOf(tool) {
  if (!isOfServer(tool)) return allNames().get(tool) ?? tool;
  const server = serverOf(tool);
  const name = tool.slice(server.length + SEPARATOR.length);
  return name === ALL ? t("%(server)s: all tools", { server }) : t("%(server)s: %(tool)s", { server, tool: name });
}

/** The name of its server; empty: it is our own. @param {string} tool */
export const serverOf = (tool) => (isOfServer(tool) ? tool.slice(0, tool.indexOf(SEPARATOR)) : "");

/** Whether it is one of an MCP server. @param {string} tool */
export const isOfServer = (tool) => tool.indexOf(SEPARATOR) > 0;

const configuredTools = () => globalThis.document?.body.dataset.tools?.split(" ");

/** Our own, and those of servers that may be chosen now. */
function allNames() {
  const own = new Map([
    ["web_search", t("Web search")],
    ["open_url", t("Open web pages")],
    ["current_time", t("Date and time")],
    ["research_agent", t("Research by a second agent")],
    ["ask_user", t("Questions to you")],
  ]);
  for (const tool of configuredTools()?.filter(isOfServer) ?? []) own.set(tool, nameOf(tool));
  return own;
}
