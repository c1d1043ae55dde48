/** A line above the composer once most of a daily limit or a quota is used: how much, and how there is room again. */

import { clockTime } from "../answer/api_error_texts.js";
import { apiErrorText } from "../answer/status_texts.js";
import { language, t } from "../i18n.js";
import { call } from "../server/api.js";

/** @typedef {{code: string, used: number, max: number|null, unit: string, resets_at: string|null}} LimitUse */

/** Share of a limit from which it is shown. */
const NEARLY = 0.8;
/** Share of a quota from which events may bring it there. Daily limits, which fill in hours, are always read again. */
const WATCHED = 0.7;
/** Several events of one answer cause one request. */
const PAUSE_MS = 400;
/** A timer's longest time is 24.8 days; a day is enough here. */
const LONGEST_MS = 86_400_000;
const CAUSES = new Set(["turn_started", "run_continued", "overall_stop", "session_changed", "session_deleted"]);
const PERCENT = new Intl.NumberFormat(language, { style: "percent" });

/** @type {Record<string, (words: Record<string, string>) => string>} */
const TEXTS = {
  runs_per_day: (words) => t("You have used %(percent)s of the answers of today. At %(time)s you have all of them again.", words),
  tokens_per_day: (words) => t("You have used %(percent)s of the tokens of today. At %(time)s you have all of them again.", words),
  cost_per_day: (words) => t("You have used %(percent)s of what today's answers may cost. At %(time)s it starts at 0 again.", words),
  sessions: (words) => t("You have %(percent)s of the chats that there is room for. Delete some that you do not need.", words),
  stored_bytes: (words) => t("Your chats and files take up %(percent)s of the room for them. Delete chats that you do not need.", words),
};
/** Error codes of quotas that are reached. @type {Record<string, string>} */
const REACHED = { sessions: "too_many_sessions", stored_bytes: "storage_full" };

export class LimitStatus {
  /** @param {HTMLElement} element a live region, hidden */
  constructor(element) {
    this.element = element;
    this.hasLimits = true;
    this.timer = 0;
    this.#read();
  }

  /** @param {{type: string}} frame */
  receive({ type }) {
    if (this.hasLimits && CAUSES.has(type)) this.#readIn(PAUSE_MS);
  }

  /** @param {number} wait_ms */
  #readIn(wait_ms) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#read(), wait_ms);
  }

  async #read() {
    /** @type {LimitUse[]|null} */
    const all = await call("GET", "usage/limits/").catch(() => /** @type {any} */ (null));
    if (!all) return; // the next event tries again
    const limits = all.filter(({ code, max }) => code in TEXTS && max !== null);
    this.hasLimits = limits.some((limit) => limit.resets_at || share(limit) >= WATCHED);
    this.#show(limits.sort((one, other) => share(other) - share(one))[0]);
  }

  /** @param {LimitUse|undefined} fullest */
  #show(fullest) {
    const text = fullest && share(fullest) >= NEARLY ? textOf(fullest) : "";
    this.element.hidden = !text;
    if (this.element.textContent !== text) this.element.textContent = text;
    if (text && fullest.resets_at) this.#readIn(Math.min(LONGEST_MS, Math.max(PAUSE_MS, Date.parse(fullest.resets_at) - Date.now())));
  }
}

/** @param {LimitUse} limit */
const share = ({ used, max }) => (max ? used / max : 0);

/** @param {LimitUse} limit */
function textOf(limit) {
  if (share(limit) >= 1) return apiErrorText({ code: REACHED[limit.code] ?? "daily_limit_reached", max: limit.max ?? 0, resetsAt: limit.resets_at });
  // Rounded down, so that no limit looks reached before it is.
  const percent = PERCENT.format(Math.floor(share(limit) * 100) / 100);
  return TEXTS[limit.code]({ percent, time: clockTime(limit.resets_at) });
}
