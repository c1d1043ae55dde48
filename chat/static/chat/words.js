/** Codes of the contract in the reader's words: what happened and what to do. */

const WORDS = {
  context_too_long: "This conversation no longer fits the model. Start a new chat, or edit an earlier message.",
  deadline_exceeded: "The answer took longer than allowed.",
  empty_response: "The model returned an empty answer.",
  idempotency_mismatch: "This message was already sent with another content. Send it again.",
  message_empty: "There is nothing to send.",
  message_too_long: "This message is too long.",
  model_not_configured: "This model is not configured any more. Pick another one.",
  model_refusal: "The model declined to answer.",
  models_invalid: "The picked models are not available. Pick again.",
  parent_in_progress: "The answer above is still being written. Wait for it, or stop it.",
  rate_limited: "Too many requests. Wait a moment.",
  session_not_found: "This chat does not exist (any more).",
  stream_unavailable: "Answers cannot be streamed right now. Try again in a moment.",
  too_many_runs: "Too many answers are being written at once. Wait for one to end.",
  turn_in_progress: "The answer above is still being written. Wait for it, or stop it.",
  unreachable: "The server cannot be reached.",
  unreadable: "The server sent something unexpected. Try again in a moment.",
  upstream_auth: "The model server refused the credentials. Whoever runs this server has to fix them.",
  upstream_interrupted: "The model server broke off in the middle of the answer.",
  upstream_malformed: "The model server sent something that is not an answer.",
  upstream_rate_limited: "The model server is busy.",
  upstream_rejected: "The model server rejected the request.",
  upstream_timeout: "The model server did not answer in time.",
  upstream_unavailable: "The model server could not be reached.",
  worker_lost: "The answer was interrupted too often.",
};

/** @param {{code?: string, message?: string}} error */
export function inWords(error) {
  return WORDS[error.code ?? ""] ?? (error.message || "Something went wrong.");
}

/**
 * @param {import("./types.js").Answer} answer
 * @returns {string} what the answer is doing; empty once it is complete
 */
export function statusInWords(answer) {
  if (answer.ended) return answer.status === "stopped" ? "stopped" : "";
  if (answer.status === "stopping") return "stopping…";
  if (answer.position !== null) return answer.position > 0 ? `waiting, place ${answer.position}` : "waiting…";
  if (answer.quiet) return "still working…";
  if (answer.rounds.at(-1)?.calls.some((call) => call.running)) return "using tools…";
  if (answer.text) return "writing…";
  return answer.reasoning ? "thinking…" : "starting…";
}

/** @param {import("./types.js").SessionState["compressing"]} compressing */
export function compressionInWords(compressing) {
  if (compressing === "under_way") return "Summarising…";
  return compressing === "failed" ? "Could not be summarised" : "";
}
