/** Translated texts for the error codes of failed runs: what happened and what to do. */

import { t } from "../i18n.js";

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
