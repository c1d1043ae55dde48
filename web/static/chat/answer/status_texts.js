/**
 * Translated texts for errors and states: what happened to a rejected request or a failed run and what to do, what an
 * answer is doing, and how a run is named to its user.
 */

import { t } from "../i18n.js";
import { waitingCalls } from "../state/tool_rounds.js";
import { outcomeText } from "../tools/tool_texts.js";
import { API_ERRORS } from "./api_error_texts.js";

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

/** What has nothing to do with the model that was asked. */
const OF_NO_MODEL = new Set(["tool_not_configured", "run_limit_reached", "worker_lost", "internal_error"]);

/** @param {string} code */
export const canAnotherModelHelp = (code) => !OF_NO_MODEL.has(code);

/** @type {Record<string, () => string>} */
export const RUN_ERRORS = {
  context_too_long: () =>
    t(
      "This conversation is too long for the model. Shorten your message, edit an earlier one, start a new chat, or try a model with a larger window.",
    ),
  prompt_too_long: () =>
    t(
      "The prompts of the agent, the project and this chat are too long for the model. Shorten them, or try a model with a larger window.",
    ),
  tools_too_long: () =>
    t(
      "The descriptions of the chosen tools are too long for the model. Choose fewer tools, or try a model with a larger window.",
    ),
  empty_response: () => t("The model returned an empty answer. Try again, or with another model."),
  output_limit_reached: () =>
    t(
      "The model used all of its output limit to think, before the answer began. Ask for less at once, or raise the limit.",
    ),
  model_refusal: () => t("The model declined to answer. Ask in another way, or try another model."),
  model_not_configured: () => t("This model is not available any more. Try another one."),
  tool_not_configured: () => t("The tool that was asked for is not set up on this server. Ask without it."),
  tool_unknown: () => t("The model cannot use the tool that was asked for. Try another model."),
  option_unsupported: () =>
    t("The model does not have an option of this chat any more. Change the options, or try another model."),
  upstream_option_rejected: () =>
    t("The model server refused an option of this chat. Change the options, or try another model."),
  upstream_auth: () =>
    t("The model server refused its key. Try another model; whoever runs this server has to fix it."),
  upstream_quota: () =>
    t("The budget at the model server is used up. Try another model; whoever runs this server has to top it up."),
  model_not_found: () =>
    t("The model server does not have this model. Try another one; whoever runs this server has to fix it."),
  content_filtered: () =>
    t("The content filter of the model server rejected the request. Put it in another way, or try another model."),
  upstream_rejected: () =>
    t("The model server rejected the request. Try another model; whoever runs this server can see why."),
  upstream_rate_limited: () => t("The model server is busy. Try again in a moment, or with another model."),
  upstream_unavailable: () =>
    t("The model server failed or is overloaded. Try again in a moment, or with another model."),
  upstream_unreachable: () => t("The model server could not be reached. Try again in a moment, or with another model."),
  upstream_timeout: () => t("The model server did not answer in time. Try again, or with another model."),
  upstream_interrupted: () =>
    t("The model server broke off in the middle of the answer. What came is kept; try again."),
  upstream_malformed: () =>
    t("The model server sent something that is not an answer. Try again, or with another model."),
  run_limit_reached: () =>
    t("The answer used all that one answer may use before it had a text. Ask for less at once, or start a new chat."),
  deadline_exceeded: () =>
    t("The answer took longer than allowed. What came is kept; try again, or ask for less at once."),
  worker_lost: () => t("The answer was interrupted too often. What came is kept; try again."),
  internal_error: () => t("Something went wrong on our side. Try again; if it stays, tell whoever runs this server."),
};

const REFERENCE_DIGITS = 8;

/** What a user tells an operator to have an answer looked up: the first digits of its run's id. @param {string} run */
export const referenceOf = (run) => run.slice(0, REFERENCE_DIGITS);

/** Where staff look the answer up, by the whole id: its run in the admin. For others empty. @param {string} run */
export const lookupOf = (run) => (document.querySelector("#account[data-staff]") ? `/admin/lookup/?q=${run}` : "");
