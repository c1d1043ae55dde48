/** A line above the composer once most of a daily limit or a quota is used. What it says is loaded then. */

import { call } from "../server/api.js";

/** @typedef {LimitUseAnswer} LimitUse */

/** Share of a limit from which it is shown. */
const NEARLY = 0.8;
/** Share of a quota from which events may bring it there. Daily limits, which fill in hours, are always read again. */
const WATCHED = 0.7;
/** Several events of one answer cause one request. */
const PAUSE_MS = 400;
/** Limits may be set, or a quota may fill, without an event. */
const REREAD_MS = 3_600_000;
const CAUSES = new Set(["turn_started", "run_continued", "overall_stop", "session_changed", "session_deleted", "file"]);

const CODES = new Set(["runs_per_day", "tokens_per_day", "cost_per_day", "sessions", "stored_bytes"]);

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
    this.#readIn(REREAD_MS);
    /** @type {LimitUse[]|null} */
    const all = await call("GET", "usage/limits/").catch(() => /** @type {any} */ (null));
    if (!all) return; // the next event tries again
    const limits = all.filter(({ code, max }) => CODES.has(code) && max !== null);
    this.hasLimits = limits.some((limit) => limit.resets_at || share(limit) >= WATCHED);
    await this.#show(limits.sort((one, other) => share(other) - share(one))[0]);
  }

  /** @param {LimitUse|undefined} fullest */
  async #show(fullest) {
    const isNear = fullest && share(fullest) >= NEARLY;
    const module = isNear ? await import("./usage_tables.js").catch(() => /** @type {any} */ (null)) : null;
    const text = module ? module.limitText(fullest, share(fullest)) : "";
    this.element.hidden = !text;
    if (this.element.textContent !== text) this.element.textContent = text;
    if (text && fullest.resets_at)
      this.#readIn(Math.min(REREAD_MS, Math.max(PAUSE_MS, Date.parse(fullest.resets_at) - Date.now())));
  }
}

/** @param {LimitUse} limit */
const share = ({ used, max }) => (max ? used / max : 0);
