/** Translated texts for errors and states. */

import { t } from "../i18n.js";
import { waitingCalls } from "../state/tool_rounds.js";
import { outcomeText } from "../tools/tool_texts.js";
import { API_ERRORS } from "./api_error_texts.js";
import { RUN_ERRORS } from "./run_error_texts.js";

/**
 * The text for a rejected request.
 * @param {{code?: string, message?: string, status?: number, requestId?: string, max?: number, limit?: number, resetsAt?: string, resets_at?: string}} error  limit, resets_at: as a socket sends them
 */
export function apiErrorText(error) {
  const words = API_ERRORS[error.code ?? ""] ?? RUN_ERRORS[error.code ?? ""];
  const text =
    words?.(error.max ?? error.limit ?? 0, error.resetsAt ?? error.resets_at) ??
    (error.message || t("Something went wrong. Try again in a moment."));
  // By which whoever runs this server finds it in the logs.
  const isInternal = (error.status ?? 0) >= 500 && error.requestId;
  return isInternal ? `${text} (${t("request %(id)s", { id: error.requestId ?? "" })})` : text;
}

/**
 * The text for a failed answer.
 * @param {{code?: string, message?: string}} error
 */
export function runErrorText(error) {
  return RUN_ERRORS[error.code ?? ""]?.() ?? apiErrorText(error);
}

/**
 * @param {import("../types.js").Answer} answer
 * @returns {string} what the answer is doing; empty once it is complete
 */
export function statusText(answer) {
  if (answer.ended) return answer.status === "stopped" ? t("stopped") : "";
  if (answer.status === "stopping") return t("stopping…");
  if (answer.position !== null) {
    return answer.position > 0 ? t("waiting, place %(place)s", { place: answer.position }) : t("waiting…");
  }
  const [waiting] = waitingCalls(answer.rounds);
  if (waiting) return outcomeText(waiting);
  if (answer.quiet) return t("still working…");
  if (answer.rounds.at(-1)?.calls.some((call) => call.status === "running")) return t("using tools…");
  if (answer.text) return t("writing…");
  return answer.reasoning ? t("thinking…") : t("starting…");
}

/** @param {import("../types.js").SessionState["compressing"]} compressing */
export function compressionText(compressing) {
  if (compressing === "under_way") return t("Summarising…");
  return compressing === "failed" ? t("Could not be summarised") : "";
}
