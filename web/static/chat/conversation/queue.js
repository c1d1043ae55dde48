/** Finds the questions queued below an answer that is still being written. Pure. */

import { isLive } from "../state/session_state.js";

/** @import {Message, SessionState} from "../types.js" */

/** @param {SessionState} state @returns {Set<string>} ids of questions, and of the answers that wait with them */
export function waiting(state) {
  const branch = state.branch ?? [];
  const ids = new Set();
  branch.forEach((message, i) => {
    if (message.role !== "user" || !isLive(state, branch[i - 1])) return;
    ids.add(message.id);
    if (branch[i + 1]) ids.add(branch[i + 1].id);
  });
  return ids;
}

/**
 * The question that can be withdrawn: only the newest, because others may wait for those above.
 * @param {SessionState} state
 * @returns {{question: Message, answer: Message, above: Message}|null}
 */
export function withdrawable(state) {
  const [above, question, answer] = (state.branch ?? []).slice(-3);
  return answer && waiting(state).has(question.id) ? { question, answer, above } : null;
}
