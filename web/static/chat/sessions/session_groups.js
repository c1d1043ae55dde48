/** Groups sessions by the time of their last use, in days of the user's time zone. Pure: `now` is passed in. */

/** @import {Session} from "../types.js" */

/**
 * @typedef {object} SessionGroup
 * @property {"today"|"yesterday"|"week"|"thirty_days"|"month"} kind
 * @property {Date} month  the first day of the month the group's newest session was used in
 * @property {Session[]} sessions
 */

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * @param {Session[]} sessions newest first
 * @param {Date} now in the user's time zone
 * @returns {SessionGroup[]} newest first, none empty
 */
export function groupSessions(sessions, now) {
  /** @type {SessionGroup[]} */
  const groups = [];
  for (const session of sessions) {
    const used = new Date(session.updated_at);
    const kind = kindOf(used, now);
    const latest = groups.at(-1);
    const isSame = latest?.kind === kind && (kind !== "month" || isSameMonth(latest.month, used));
    if (isSame) latest.sessions.push(session);
    else groups.push({ kind, month: new Date(used.getFullYear(), used.getMonth(), 1), sessions: [session] });
  }
  return groups;
}

/** @param {Date} used @param {Date} now @returns {SessionGroup["kind"]} */
function kindOf(used, now) {
  const days = daysBetween(used, now);
  if (days <= 0) return "today"; // also what a server whose clock is ahead calls tomorrow
  if (days === 1) return "yesterday";
  if (days <= 7) return "week";
  return days <= 30 ? "thirty_days" : "month";
}

/** Counts the midnights between two dates; rounded, because a day of a clock change has 23 or 25 hours. @param {Date} used @param {Date} now */
function daysBetween(used, now) {
  const midnight = (/** @type {Date} */ date) =>
    new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
  return Math.round((midnight(now) - midnight(used)) / DAY_MS);
}

/** @param {Date} one @param {Date} other */
function isSameMonth(one, other) {
  return one.getFullYear() === other.getFullYear() && one.getMonth() === other.getMonth();
}
