/**
 * The user's usage of the last thirty days, by model; the limits that apply, and how much of each is used; and what is
 * said of a limit of which most is used.
 */

import * as api from "../server/api.js";
import { h } from "../elements/element.js";
import { language, t } from "../i18n.js";
import { byteText, clockTime } from "../answer/api_error_texts.js";
import { apiErrorText } from "../answer/status_texts.js";
import { percent } from "../elements/formats.js";

/** @import {LimitUse} from "./limit_status.js" */

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
  return h("div", {}, h("table", {}, head, h("tbody", {}, ...rows.map((row) => usageLine(row, priced)))), note);
}

/** @param {ModelUsage} row @param {boolean} priced */
function usageLine(row, priced) {
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

/** @typedef {{name: string, use: string, isNearly: boolean}} Row */

/** What each limit is of, in the order in which they are shown. @type {Record<string, () => string>} */
const NAMES = {
  runs_in_progress: () => t("Answers being written"),
  runs_per_day: () => t("Answers today"),
  tokens_per_day: () => t("Tokens today"),
  cost_per_day: () => t("Cost today"),
  sessions: () => t("Chats"),
  stored_bytes: () => t("Texts and files"),
  agents: () => t("Agents"),
  prompts: () => t("Prompts"),
  projects: () => t("Projects"),
  tokens: () => t("API tokens"),
  sockets: () => t("Windows and programs connected"),
};

/** The limits that apply to the user, and how much of each is used. */
export class LimitsTable {
  /** @param {(error: any) => void} failed */
  constructor(failed) {
    this.failed = failed;
    this.place = h("div", { class: "scrolls", tabIndex: 0, role: "region", "aria-label": t("Limits") });
    this.element = h("section", { class: "limits", hidden: true }, h("h3", {}, t("Limits")), this.place);
    this.read();
  }

  read() {
    api.call("GET", "usage/limits/").then((uses) => this.#show(limitRows(uses)), this.failed);
  }

  /** @param {Row[]} rows */
  #show(rows) {
    this.element.hidden = rows.length === 0;
    this.place.replaceChildren(h("table", {}, h("tbody", {}, ...rows.map(limitLine))));
  }
}

/** @param {LimitUse[]} uses @returns {Row[]} those with a limit */
export function limitRows(uses) {
  const byCode = new Map(uses.map((use) => [use.code, use]));
  return Object.entries(NAMES).flatMap(([code, name]) => {
    const use = byCode.get(code);
    if (!use || use.max === null) return [];
    const [used, max] = [use.used, use.max].map((number) =>
      use.unit === "bytes" ? byteText(number) : number.toLocaleString(language),
    );
    return [
      {
        name: name(),
        use: t("%(used)s of %(max)s", { used: use.is_estimated ? `≈ ${used}` : used, max }),
        isNearly: use.used >= 0.8 * use.max,
      },
    ];
  });
}

/** @param {Row} row */
function limitLine({ name, use, isNearly }) {
  return h("tr", { class: isNearly ? "nearly" : "" }, h("th", { scope: "row" }, name), h("td", {}, use));
}

/** @type {Record<string, (words: Record<string, string>) => string>} */
const TEXTS = {
  runs_per_day: (words) =>
    t("You have used %(percent)s of the answers of today. At %(time)s you have all of them again.", words),
  tokens_per_day: (words) =>
    t("You have used %(percent)s of the tokens of today. At %(time)s you have all of them again.", words),
  cost_per_day: (words) =>
    t("You have used %(percent)s of what today's answers may cost. At %(time)s it starts at 0 again.", words),
  sessions: (words) => t("You have %(percent)s of the chats that there is room for. Delete some for good.", words),
  stored_bytes: (words) =>
    t("Your chats and files take up %(percent)s of the room for them. Delete some chats for good.", words),
};
/** Error codes of quotas that are reached. @type {Record<string, string>} */
const REACHED = { sessions: "too_many_sessions", stored_bytes: "storage_full" };

/** @param {LimitUse} limit @param {number} share of it that is used */
export function limitText(limit, share) {
  if (share >= 1)
    return apiErrorText({
      code: REACHED[limit.code] ?? "daily_limit_reached",
      max: limit.max ?? 0,
      resetsAt: limit.resets_at,
    });
  // Rounded down, so that no limit looks reached before it is.
  return TEXTS[limit.code]({ percent: percent(Math.floor(share * 100) / 100), time: clockTime(limit.resets_at) });
}
