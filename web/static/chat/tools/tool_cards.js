/** The tools of this server: the cards of those that are built in, which the page brings along, and the names of those of MCP servers. */

import { t } from "../i18n.js";

/** @typedef {ToolCard & {icon: import("../elements/icons.js").IconName}} Card */

/** @type {Map<string, Card>|undefined} */
let cards;

/** By their names, in the order in which they are offered. @returns {Map<string, Card>} */
export function toolCards() {
  const source = globalThis.document?.body.dataset.toolCards;
  if (!cards && source) cards = new Map(JSON.parse(source).map((/** @type {Card} */ card) => [card.name, card]));
  return cards ?? new Map();
}

const SEPARATOR = "__";
const ALL = "*";

/** The tools that may be chosen, and for each server a choice of all of them. @returns {string[]} their names */
export const offeredTools = () => [
  ...[...toolCards().values()].filter((card) => card.is_choosable && isConfigured(card.name)).map(({ name }) => name),
  ...(configuredTools() ?? []).filter(isOfServer),
];

/** Also of a tool that is unknown here, as of another kind of server. @param {string} tool */
export function isConfigured(tool) {
  const configured = configuredTools();
  return configured === undefined || configured.includes(tool) || !(toolCards().has(tool) || isOfServer(tool));
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
  if (!isOfServer(tool)) return toolCards().get(tool)?.label ?? tool;
  const server = serverOf(tool);
  return t("%(server)s: %(tool)s", { server, tool: tool.slice(server.length + SEPARATOR.length) });
}

/** The name of its server; empty: it is our own. @param {string} tool */
export const serverOf = (tool) => (isOfServer(tool) ? tool.slice(0, tool.indexOf(SEPARATOR)) : "");

/** Whether it is one of an MCP server. @param {string} tool */
export const isOfServer = (tool) => tool.indexOf(SEPARATOR) > 0;

const configuredTools = () => globalThis.document?.body.dataset.tools?.split(" ");

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
