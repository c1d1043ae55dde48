/** What a restricted member is told of documents: the checked summary of a search, as Markdown instead of JSON. Pure. */

import { t } from "../i18n.js";

/** @param {string} output of a search of knowledge bases @returns {string} empty: it is no summary, or not whole */
export function safeSummaryText(output) {
  const summary = parse(output);
  if (typeof summary?.decision !== "string" || !Array.isArray(summary.sources)) return "";
  if (summary.decision !== "answer") return String(summary.summary ?? "");
  const { observations, risks, recommended_actions: actions } = summary;
  const lists = [
    list(t("Observations"), observations),
    list(t("Risks"), risks),
    list(t("Recommended actions"), actions),
  ];
  return [summary.summary, ...lists, confidenceText(summary.confidence)].filter(Boolean).join("\n\n");
}

/** @param {string} heading @param {unknown} items */
function list(heading, items) {
  if (!Array.isArray(items) || items.length === 0) return "";
  return `**${heading}**\n\n${items.map((item) => `- ${String(item).replace(/\s+/g, " ")}`).join("\n")}`;
}

/** @param {unknown} level */
function confidenceText(level) {
  if (level === "high") return t("High confidence");
  if (level === "medium") return t("Medium confidence");
  return level === "low" ? t("Low confidence") : "";
}

/** @param {string} output @returns {any} */
function parse(output) {
  if (!output.startsWith("{")) return null;
  try {
    return JSON.parse(output);
  } catch {
    return null; // cut
  }
}
