/** Translated names of the tools, for the pickers. */

import { t } from "../i18n.js";

/** @returns {Map<string, string>} */
export function toolNames() {
  return new Map([
    ["web_search", t("Web search")],
    ["open_url", t("Open web pages")],
    ["current_time", t("Date and time")],
    ["research_agent", t("Research by a second agent")],
  ]);
}
