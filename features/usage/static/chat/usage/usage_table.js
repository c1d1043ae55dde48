/** The user's usage of the last thirty days, by model. */

import * as api from "../server/api.js";
import { h } from "../elements/element.js";
import { language, t } from "../i18n.js";

/**
 * @typedef {object} ModelUsage  the usage of one model, on one day or summed
 * @property {string} model
 * @property {number} runs
 * @property {number} prompt_tokens
 * @property {number} completion_tokens
 * @property {number} estimated_tokens  of both, those that the server did not report
 * @property {number|null} cost  null: no price is known
 */

/** @param {(error: any) => void} failed */
export function usageTable(failed) {
  const place = h("div", {
    class: "scrolls",
    tabIndex: 0,
    role: "region",
    "aria-label": t("Usage of the last 30 days"),
  });
  api.call("GET", "usage/").then((rows) => place.replaceChildren(table(byModel(rows))), failed);
  return h("section", {}, h("h3", {}, t("Usage of the last 30 days")), place);
}

/** @param {ModelUsage[]} days @returns {ModelUsage[]} most used first */
export function byModel(days) {
  /** @type {Map<string, ModelUsage>} */
  const sums = new Map();
  for (const day of days) {
    const sum = sums.get(day.model);
    sums.set(day.model, sum ? addUsage(sum, day) : day);
  }
  return [...sums.values()].sort((a, b) => b.runs - a.runs);
}

/** @param {ModelUsage} sum @param {ModelUsage} day @returns {ModelUsage} */
function addUsage(sum, day) {
  return {
    model: sum.model,
    runs: sum.runs + day.runs,
    prompt_tokens: sum.prompt_tokens + day.prompt_tokens,
    completion_tokens: sum.completion_tokens + day.completion_tokens,
    estimated_tokens: sum.estimated_tokens + day.estimated_tokens,
    cost: sum.cost === null && day.cost === null ? null : (sum.cost ?? 0) + (day.cost ?? 0),
  };
}

/** @param {ModelUsage[]} rows */
function table(rows) {
  if (rows.length === 0) return h("p", { class: "hint" }, t("Nothing yet."));
  const priced = rows.some(({ cost }) => cost !== null);
  const heads = [t("Model"), t("Answers"), t("Tokens read"), t("Tokens written"), ...(priced ? [t("Cost")] : [])];
  const head = h("thead", {}, h("tr", {}, ...heads.map((text) => h("th", { scope: "col" }, text))));
  const isEstimated = rows.some(({ estimated_tokens }) => estimated_tokens > 0);
  const note = h(
    "p",
    { class: "hint", hidden: !isEstimated },
    t("≈ where the server reports no counts, and they are estimated."),
  );
  return h("div", {}, h("table", {}, head, h("tbody", {}, ...rows.map((row) => line(row, priced)))), note);
}

/** @param {ModelUsage} row @param {boolean} priced */
function line(row, priced) {
  const about = row.estimated_tokens > 0 ? "≈ " : "";
  const tokens = [row.prompt_tokens, row.completion_tokens].map((number) => about + number.toLocaleString(language));
  const cost =
    row.cost === null
      ? "–"
      : about + row.cost.toLocaleString(language, { minimumFractionDigits: 2, maximumFractionDigits: 4 });
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, row.model),
    ...[row.runs.toLocaleString(language), ...tokens, ...(priced ? [cost] : [])].map((text) => h("td", {}, text)),
  );
}
