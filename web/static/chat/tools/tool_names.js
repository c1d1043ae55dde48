/** Translated names of the tools that this server is set up for, for the pickers. */

import { t } from "../i18n.js";

/** @returns {Map<string, string>} by the names of the tools */
export const toolNames = () => new Map([...allNames()].filter(([tool]) => isConfigured(tool)));

/** The same with those that were chosen when the server had them: they can be seen and taken away. @param {string[]} chosen */
export function namesWith(chosen) {
  const all = allNames();
  const missing = chosen.filter((tool) => all.has(tool) && !isConfigured(tool));
  return new Map([...toolNames(), ...missing.map((tool) => /** @type {const} */ ([tool, t("%(name)s (not set up on this server)", { name: all.get(tool) })]))]);
}

/** Also of a tool that is unknown here, as of another kind of server. @param {string} tool */
export function isConfigured(tool) {
  const configured = globalThis.document?.body.dataset.tools?.split(" ");
  return configured === undefined || configured.includes(tool) || !allNames().has(tool);
}

function allNames() {
  return new Map([
    ["web_search", t("Web search")],
    ["open_url", t("Open web pages")],
    ["current_time", t("Date and time")],
    ["research_agent", t("Research by a second agent")],
  ]);
}
