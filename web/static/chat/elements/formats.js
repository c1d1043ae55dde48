/** Formats durations and numbers in the user's language, and addresses as people name them. Pure. */

import { language, t } from "../i18n.js";

const SECONDS_FROM_MS = 100;
/** Durations up to this are shown with tenths of a second. */
const TENTHS_UNTIL_MS = 10_000;

/** @param {number} ms @returns {string} "40 ms", "0.4 s", "12 s", "3 min 5 s" */
export function duration(ms) {
  if (ms < SECONDS_FROM_MS) return t("%(count)s ms", { count: Math.round(ms) });
  if (ms < TENTHS_UNTIL_MS) return t("%(seconds)s s", { seconds: tenths(ms / 1000) });
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return t("%(seconds)s s", { seconds });
  return t("%(minutes)s min %(seconds)s s", { minutes: Math.floor(seconds / 60), seconds: seconds % 60 });
}

/** @param {number} number */
export const tenths = (number) =>
  number.toLocaleString(language, { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** @param {number} share 0 to 1 */
export const percent = (share) => share.toLocaleString(language, { style: "percent" });

/** @param {number} number */
export const whole = (number) => Math.round(number).toLocaleString(language);

/** @param {string|undefined|null} url @returns {string} empty if there is none */
export function hostOf(url) {
  try {
    return new URL(url ?? "").host.replace(/^www\./, "");
  } catch {
    return "";
  }
}
