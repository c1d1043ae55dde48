/** What the page says about errors and states, in the reader's words. */

import { t } from "../i18n.js";
import { REFUSALS } from "./refusal_words.js";
import { RUN_ERRORS } from "./run_error_words.js";

/**
 * A refused request.
 * @param {{code?: string, message?: string}} error
 */
export function inWords(error) {
  const words = REFUSALS[error.code ?? ""] ?? RUN_ERRORS[error.code ?? ""];
  return words?.() ?? (error.message || t("Something went wrong. Try again in a moment."));
}

/**
 * A failed answer.
 * @param {{code?: string, message?: string}} error
 */
export function runErrorInWords(error) {
  return RUN_ERRORS[error.code ?? ""]?.() ?? inWords(error);
}

/**
 * @param {import("../types.js").Answer} answer
 * @returns {string} what the answer is doing; empty once it is complete
 */
export function statusInWords(answer) {
  if (answer.ended) return answer.status === "stopped" ? t("stopped") : "";
  if (answer.status === "stopping") return t("stopping…");
  if (answer.position !== null) {
    return answer.position > 0 ? t("waiting, place %(place)s", { place: answer.position }) : t("waiting…");
  }
  if (answer.quiet) return t("still working…");
  if (answer.rounds.at(-1)?.calls.some((call) => call.status === "running")) return t("using tools…");
  if (answer.text) return t("writing…");
  return answer.reasoning ? t("thinking…") : t("starting…");
}

/** @param {import("../types.js").SessionState["compressing"]} compressing */
export function compressionInWords(compressing) {
  if (compressing === "under_way") return t("Summarising…");
  return compressing === "failed" ? t("Could not be summarised") : "";
}
