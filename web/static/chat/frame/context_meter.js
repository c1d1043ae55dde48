/**
 * The ring in the bar: how full the context windows of the models are that answered last. Which runs tell it, and their
 * numbers as texts, is decided by pure functions.
 */

import { percent, whole } from "../elements/formats.js";
import { readRun } from "../server/api.js";
import { t, tn } from "../i18n.js";
import { answerTo, isLive } from "../state/session_state.js";
import { columnsOf } from "../state/branch.js";

/** @import {LiveSession} from "../server/live_session.js" */
/** @import {MeasuredRun, ContextUsage, SessionState} from "../types.js" */

const SVG = "http://www.w3.org/2000/svg";
const RADIUS = 9;

export class ContextMeter {
  /**
   * @param {HTMLButtonElement} button
   * @param {{live: () => LiveSession|null, reveal: (message: string) => void, failed: (error: Error) => void}} page
   */
  constructor(button, page) {
    this.button = button;
    this.page = page;
    this.session = "";
    /** What is shown, or being read: the runs. */
    this.shown = "";
    /** @type {MeasuredRun[]} */
    this.runs = [];
    /** @type {import("./context_card.js").ContextCard|null} */
    this.card = null;
    this.share = this.#drawRing();
    button.addEventListener("click", () => this.#open());
  }

  /** The open session, or something in it, may have changed. */
  follow() {
    const state = this.page.live()?.state ?? null;
    if (this.session !== (state?.session ?? "")) {
      this.session = state?.session ?? "";
      this.shown = "";
      this.#show([]);
    }
    const runs = state ? measuredRuns(state) : [];
    const wanted = runs.map(({ run, attempt }) => `${run} ${attempt}`).join();
    if (!wanted || wanted === this.shown) return;
    this.shown = wanted;
    this.#read(
      runs.map(({ run }) => run),
      wanted,
    );
  }

  /** @param {string[]} runs @param {string} wanted */
  async #read(runs, wanted) {
    try {
      const read = await Promise.all(runs.map((run) => readRun(run)));
      if (this.shown === wanted) this.#show(read.filter(({ context }) => context));
    } catch {
      if (this.shown === wanted) this.#show([]); // an ornament: the next answer reads again
    }
  }

  /** @param {MeasuredRun[]} runs */
  #show(runs) {
    this.runs = runs;
    this.button.hidden = runs.length === 0;
    const [fullest] = runs.map(({ context }) => context).toSorted((one, other) => shareOf(other) - shareOf(one));
    if (!fullest) return;
    const share = shareOf(fullest);
    this.button.dataset.level = levelOf(fullest);
    this.share.setAttribute("stroke-dasharray", `${(share * 100).toFixed(1)} 100`);
    this.button.setAttribute("aria-label", t("Context: %(share)s full", { share: percent(share) }));
    this.button.title = this.button.getAttribute("aria-label") ?? "";
  }

  async #open() {
    try {
      const { ContextCard } = await import("./context_card.js");
      this.card ??= new ContextCard(this.button, this.page);
      await this.card.toggle(this.runs);
    } catch (error) {
      this.page.failed(error);
    }
  }

  /** @returns {SVGElement} the arc whose length is the share */
  #drawRing() {
    const ring = document.createElementNS(SVG, "svg");
    ring.setAttribute("viewBox", "0 0 24 24");
    ring.setAttribute("class", "ring");
    ring.setAttribute("aria-hidden", "true");
    const [track, share] = ["track", "share"].map((name) => {
      const circle = document.createElementNS(SVG, "circle");
      for (const [key, value] of Object.entries({ class: name, cx: 12, cy: 12, r: RADIUS, pathLength: 100 }))
        circle.setAttribute(key, String(value));
      return circle;
    });
    ring.append(track, share);
    this.button.append(ring);
    return share;
  }
}

/** @typedef {"system"|"tools"|"summary"|"history"|"files"|"question"|"reserved"|"free"} Part */
/** @type {Part[]} */
const PARTS = ["system", "tools", "summary", "history", "files", "question", "reserved", "free"];
/** From this share on, the ring warns. */
const HIGH_SHARE = 0.9;

/**
 * The runs whose answers the branch ends in, one for each model; the last ones that have ended.
 * @param {SessionState} state @returns {{run: string, attempt: number}[]} attempt: changes when an answer is continued
 */
export function measuredRuns(state) {
  const ended = state.branch?.findLast(
    (message) => message.run && !columnsOf(state, message).some((one) => isLive(state, one)),
  );
  const answers = ended ? columnsOf(state, ended).filter(({ run }) => run) : [];
  return answers.map((message) => ({ run: message.run ?? "", attempt: answerTo(state, message)?.attempt ?? 0 }));
}

/** How much of what requests may have is used, 0 to 1. @param {ContextUsage} usage */
export const shareOf = ({ window, reserved, used }) => Math.min(1, used / Math.max(1, window - reserved));

/** @param {ContextUsage} usage @returns {"high"|"low"} */
export const levelOf = (usage) => (shareOf(usage) >= HIGH_SHARE ? "high" : "low");

/** @param {ContextUsage} usage @returns {{part: Part, name: string, tokens: number}[]} in the order of the bar; empty ones are left out */
export function partsOf(usage) {
  /** @type {Record<Part, string>} */
  const names = {
    system: t("System prompt"),
    tools: t("Tools"),
    summary: t("Summary"),
    history: t("Earlier messages"),
    files: t("Files and knowledge"),
    question: t("This question"),
    reserved: t("Reserved for the answer"),
    free: t("Free"),
  };
  return PARTS.map((part) => ({ part, name: names[part], tokens: usage[part] })).filter(
    ({ part, tokens }) => tokens > 0 || part === "free",
  );
}

/** @param {number} count tools that the model's server does not take */
export const leftOutText = (count) =>
  tn(
    "%(count)s chosen tool is not sent: this model's server refuses it, or takes fewer.",
    "%(count)s chosen tools are not sent: this model's server refuses them, or takes fewer.",
    count,
  );

/** When the history is summarised. @param {ContextUsage} usage */
export function compressionText({ compression: { history, limit } }) {
  const numbers = { history: whole(history), limit: whole(limit) };
  return history > limit
    ? t(
        "The conversation has %(history)s tokens, more than %(limit)s: its beginning is summarised for the model.",
        numbers,
      )
    : t(
        "The beginning is summarised once the conversation has more than %(limit)s tokens. It has %(history)s.",
        numbers,
      );
}
