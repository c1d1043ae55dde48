/** What fills a model's context window: which runs tell it, and their numbers as texts. Pure. */

import { answerTo, isLive } from "../state/session_state.js";
import { columnsOf } from "../state/branch.js";
import { t, tn } from "../i18n.js";
import { whole } from "../elements/formats.js";

/** @import {ContextUsage, Message, SessionState} from "../types.js" */

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
