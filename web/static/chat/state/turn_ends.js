/** Which turns ended between two states of a session. Pure. */

import { liveAnswers } from "./session_state.js";

/** @import {SessionState} from "../types.js" */

/**
 * However the page learned of it: by packets, or by a read after the connection was lost.
 * @param {SessionState} before
 * @param {SessionState} after
 * @returns {wire.StopReason[]} as `overall_stop` has it, of the answers that were being written
 */
export function turnEnds(before, after) {
  if (before.answers === after.answers) return [];
  const live = new Set(liveAnswers(after).map(turnOf));
  const ended = new Set(
    liveAnswers(before)
      .map(turnOf)
      .filter((turn) => !live.has(turn)),
  );
  return [...ended].map((turn) => reasonOf(Object.values(after.answers).filter((answer) => turnOf(answer) === turn)));
}

/** @param {import("../types.js").Answer} answer */
const turnOf = ({ turn, run }) => turn ?? run;

/** @param {import("../types.js").Answer[]} answers  all of a turn @returns {wire.StopReason} */
function reasonOf(answers) {
  if (answers.some(({ status }) => status === "stopped")) return "user_cancelled";
  return answers.every(({ status }) => status === "failed") ? "error" : "finished";
}
