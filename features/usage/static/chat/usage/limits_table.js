/** The limits that apply to the user, and how much of each is used. */

import { byteText } from "../answer/api_error_texts.js";
import * as api from "../server/api.js";
import { h } from "../elements/element.js";
import { language, t } from "../i18n.js";

/** @typedef {LimitUseAnswer} LimitUse */

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
    this.place.replaceChildren(h("table", {}, h("tbody", {}, ...rows.map(line))));
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
function line({ name, use, isNearly }) {
  return h("tr", { class: isNearly ? "nearly" : "" }, h("th", { scope: "row" }, name), h("td", {}, use));
}
