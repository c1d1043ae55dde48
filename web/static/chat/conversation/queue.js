/** Finds the questions queued below an answer that is still being written. Pure. */

import { isLive } from "../state/session_state.js";

/** @import {Message, SessionState} from "../types.js" */

/** @param {SessionState} state @returns {Set<string>} ids of questions, and of the answers that wait with them */
export function waiting(state) {
  const branch = state.branch ?? [];
  const first = branch.findIndex((message) => isLive(state, message));
  const ids = new Set();
  // Also below one that was stopped while it waited: its end does not end the wait.
  branch.slice(first === -1 ? branch.length : first + 1).forEach((message, i, below) => {
    const answer = below[i + 1];
    if (message.role !== "user" || (answer && !isLive(state, answer))) return;
    ids.add(message.id);
    if (answer) ids.add(answer.id);
  });
  return ids;
}

/**
 * The newest question that waits.
 * @param {SessionState} state @returns {Message|undefined}
 */
export function newestWaiting(state) {
  const ids = waiting(state);
  return state.branch?.findLast(({ id, role }) => role === "user" && ids.has(id));
}
