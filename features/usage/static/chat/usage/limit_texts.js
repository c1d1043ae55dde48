/** What is said of a limit of which most is used: how much, and how there is room again. Loaded with the first of them. */

import { clockTime } from "../answer/api_error_texts.js";
import { apiErrorText } from "../answer/status_texts.js";
import { percent } from "../elements/formats.js";
import { t } from "../i18n.js";

/** @import {LimitUse} from "./limit_status.js" */

/** @type {Record<string, (words: Record<string, string>) => string>} */
const TEXTS = {
  runs_per_day: (words) =>
    t("You have used %(percent)s of the answers of today. At %(time)s you have all of them again.", words),
  tokens_per_day: (words) =>
    t("You have used %(percent)s of the tokens of today. At %(time)s you have all of them again.", words),
  cost_per_day: (words) =>
    t("You have used %(percent)s of what today's answers may cost. At %(time)s it starts at 0 again.", words),
  sessions: (words) => t("You have %(percent)s of the chats that there is room for. Delete some for good.", words),
  stored_bytes: (words) =>
    t("Your chats and files take up %(percent)s of the room for them. Delete some chats for good.", words),
};
/** Error codes of quotas that are reached. @type {Record<string, string>} */
const REACHED = { sessions: "too_many_sessions", stored_bytes: "storage_full" };

/** @param {LimitUse} limit @param {number} share of it that is used */
export function limitText(limit, share) {
  if (share >= 1)
    return apiErrorText({
      code: REACHED[limit.code] ?? "daily_limit_reached",
      max: limit.max ?? 0,
      resetsAt: limit.resets_at,
    });
  // Rounded down, so that no limit looks reached before it is.
  return TEXTS[limit.code]({ percent: percent(Math.floor(share * 100) / 100), time: clockTime(limit.resets_at) });
}
