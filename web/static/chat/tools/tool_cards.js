/** Translated names of the tools that this server is set up for, for the pickers. */

import { t } from "../i18n.js";

const SEPARATOR = "__";
const ALL = "*";

/** The tools that may be chosen, and for each server a choice of all of them. @returns {string[]} their names */
export const offeredTools = () => [
  ...[...OWN_TOOLS().keys()].filter(isConfigured),
  ...(configuredTools() ?? []).filter(isOfServer),
];

/** Also of a tool that is unknown here, as of another kind of server. @param {string} tool */
export function isConfigured(tool) {
  const configured = configuredTools();
  return configured === undefined || configured.includes(tool) || !(OWN_TOOLS().has(tool) || isOfServer(tool));
}

/** Single tools that may be called: a choice of all tools of an MCP server stands for each of them. @param {string[]} chosen */
export function singleTools(chosen) {
  const ofServers = (configuredTools() ?? []).filter((tool) => isOfServer(tool) && !tool.endsWith(ALL));
  const stands = (/** @type {string} */ tool) =>
    tool.endsWith(SEPARATOR + ALL) ? ofServers.filter((one) => one.startsWith(tool.slice(0, -1))) : [tool];
  return [...new Set(chosen.flatMap(stands))].filter(isConfigured);
}

/** As people read it: `time__now` is "time: now". @param {string} tool */
export function nameOf(tool) {
  if (!isOfServer(tool)) return OWN_TOOLS().get(tool)?.label ?? tool;
  const server = serverOf(tool);
  return t("%(server)s: %(tool)s", { server, tool: tool.slice(server.length + SEPARATOR.length) });
}

/** The name of its server; empty: it is our own. @param {string} tool */
export const serverOf = (tool) => (isOfServer(tool) ? tool.slice(0, tool.indexOf(SEPARATOR)) : "");

/** Whether it is one of an MCP server. @param {string} tool */
export const isOfServer = (tool) => tool.indexOf(SEPARATOR) > 0;

const configuredTools = () => globalThis.document?.body.dataset.tools?.split(" ");

/** @returns {Map<string, {label: string, about: string}>} those that are part of the product */
export const OWN_TOOLS = () =>
  new Map([
    ["web_search", { label: t("Web search"), about: t("Searches the web.") }],
    ["open_url", { label: t("Open web pages"), about: t("Reads web pages whose address is known.") }],
    ["current_time", { label: t("Date and time"), about: t("Tells the date and the time where you are.") }],
    [
      "research_agent",
      { label: t("Research by a second agent"), about: t("Looks into a question on its own, and reports.") },
    ],
    ["ask_user", { label: t("Questions to you"), about: t("Asks you what only you know, and waits for the answer.") }],
  ]);

/** The choice of all tools of its server. @param {string} tool */
export const allOfServer = (tool) => serverOf(tool) + SEPARATOR + ALL;

/** As people read it below the name of its server: `time__get_current_time` is "Get current time". @param {string} tool */
export function labelOf(tool) {
  if (!isOfServer(tool)) return nameOf(tool);
  const server = serverOf(tool);
  if (tool === allOfServer(tool)) return t("All tools of %(server)s", { server });
  const words = tool
    .slice(server.length + SEPARATOR.length)
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .replace(/[_-]+/g, " ")
    .trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
