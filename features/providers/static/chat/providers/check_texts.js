/** Translated texts for checks of providers: what the server did, and what to do about it. */

import { RUN_ERRORS } from "../answer/status_texts.js";
import { language, t, tn } from "../i18n.js";

/** @import {CheckError, ProviderCheck} from "./providers_api.js" */

/** @type {Record<string, () => string>} */
export const PROVIDER_ERRORS = {
  address_refused: () => t("This address belongs to no model server. Enter another one."),
  redirected: () => t("The server sends requests to another address. Enter that one."),
  no_model_list: () =>
    t("The server has no list of models at this address. Usually it ends in /v1. Models can be added by name, too."),
  not_json: () => t("The server answers, but not in JSON. Check the address: usually it ends in /v1."),
  not_openai: () => t("The server answers, but not as OpenAI-compatible servers do. Check the address."),
  list_too_long: () => t("The list of models is too long. Add models by name."),
  key_unreadable: () => t("The key cannot be decrypted any more. Enter it again."),
  encryption_unavailable: () =>
    t("The llm workers cannot read the key: set SECRETS_KEYS for them too, and start them again."),
};

/** What is said to staff in other words than to those who ask questions. @type {Record<string, () => string>} */
const TO_STAFF = {
  upstream_auth: () => t("The server refuses the key. Check it and enter it again."),
  upstream_quota: () => t("The account of this key has no credit left."),
  upstream_unreachable: () =>
    t("There is no connection to the server. Check the address, and whether the llm workers can reach it."),
  upstream_timeout: () => t("The server did not answer in time."),
  model_not_found: () => t("The server does not have this model."),
};

/** @param {CheckError} error */
export const checkErrorText = ({ code, message }) =>
  (PROVIDER_ERRORS[code] ?? TO_STAFF[code] ?? RUN_ERRORS[code])?.() ?? message;

/** @param {ProviderCheck|null} check @returns {{text: string, detail: string, isProblem: boolean}} */
export function describeCheck(check) {
  if (check === null) return { text: "", detail: "", isProblem: false };
  if (check.status === "queued") return { text: t("A worker asks the server…"), detail: "", isProblem: false };
  const error = check.test_error ?? check.error;
  if (error) {
    const model = check.test_error && check.model ? `${check.model}: ` : "";
    return { text: model + checkErrorText(error), detail: error.detail, isProblem: true };
  }
  const listed = tn("The server has one model.", "The server has %(count)s models.", check.models.length);
  const latency = (check.latency_ms ?? 0).toLocaleString(language);
  const tried = check.model ? t("%(model)s answered in %(latency)s ms.", { model: check.model, latency }) : "";
  return { text: `${listed} ${tried}`.trim(), detail: "", isProblem: false };
}
