/** Reduces a run's packets to its answer. Pure: every function returns a new value or its argument. */

import { endRunningCalls, isToolPacket, roundsOf, withToolPacket } from "./tool_rounds.js";

/** @import {Answer, Message} from "../types.js" */

/** @type {Record<wire.StopReason, wire.Status>} */
const STATUS_AFTER = { finished: "completed", user_cancelled: "stopped", error: "failed" };
/** @type {Pick<Answer, "position"|"quiet">} */
const NOT_WAITING = { position: null, quiet: false };
/** @type {Pick<Answer, "text"|"reasoning"|"reasoningMs"|"rounds"|"citations"|"error"|"cut"|"ended">} */
const EMPTY = {
  text: "",
  reasoning: "",
  reasoningMs: null,
  rounds: [],
  citations: [],
  error: null,
  cut: null,
  ended: false,
};
const TERMINAL = new Set(["completed", "failed", "stopped"]);

/** @param {string|undefined} status */
export const isTerminal = (status) => TERMINAL.has(status ?? "completed");

/**
 * An answer of which nothing has been received: the next packet must be the first of any attempt.
 * @param {Pick<Answer, "run"|"message"|"model"|"model_index"> & {turn?: string}} info
 * @returns {Answer}
 */
export function emptyAnswer({ run, turn, message, model, model_index }) {
  return {
    run,
    turn: turn ?? null,
    message,
    model,
    model_index,
    status: "queued",
    stoppedAttempt: 0,
    ...emptyContent(0),
  };
}

/**
 * The answer after one packet. Old and repeated packets change nothing; null means packets are missing.
 * @param {Answer} answer
 * @param {wire.Packet} packet
 * @returns {Answer|null}
 */
export function withPacket(answer, packet) {
  const { attempt, seq } = packet;
  if (answer.ended || attempt < answer.attempt) return answer;
  if (attempt > answer.attempt) {
    // Only the first packet can open an attempt: the server has dropped what came before it, too.
    return seq === 1 ? applyPacket({ ...answer, ...emptyContent(attempt) }, packet) : null;
  }
  if (seq <= answer.seq) return answer;
  return seq === answer.seq + 1 ? applyPacket(answer, packet) : null;
}

/**
 * @param {Answer} answer
 * @param {wire.Reset} reset
 * @returns {Answer}
 */
export function withReset(answer, { attempt }) {
  if (answer.ended || attempt < answer.attempt) return answer;
  return { ...answer, ...emptyContent(attempt), status: "running" };
}

/**
 * @param {Answer} answer
 * @param {wire.Snapshot} snapshot
 * @returns {Answer}
 */
export function withSnapshot(answer, { attempt, seq, message }) {
  const isOld = attempt === answer.attempt && seq < answer.seq;
  // A snapshot never ends the answer, even if the message is final: `stop` follows.
  return isOver(answer, attempt) || isOld
    ? answer
    : { ...answer, ...emptyContent(attempt), seq, ...contentOf(message) };
}

/**
 * The answer after its message was read by REST: the message wins if it is final or further along.
 * @param {Answer|undefined} answer
 * @param {Message} message
 * @returns {Answer|undefined} undefined: a message that was final before the page knew its run
 */
export function withRead(answer, message) {
  if (isTerminal(message.status)) {
    return answer && { ...answer, ...contentOf(message), ...NOT_WAITING, ended: true };
  }
  const { attempt, seq } = message.cursor ?? { attempt: 0, seq: 0 };
  const known = answer ?? emptyAnswer({ run: "", model: "", model_index: 0, ...message, message: message.id });
  const isFurther = attempt > known.attempt || (attempt === known.attempt && seq > known.seq);
  // A read that is older than `stop` changes nothing; a newer one shows that the answer was continued.
  if (known.ended ? attempt <= known.stoppedAttempt : answer && !isFurther) return known;
  return { ...known, ...emptyContent(attempt), seq, ...contentOf(message) };
}

/**
 * The answer while the user lets it go on after its end.
 * @param {Answer} answer @returns {Answer}
 */
export function withContinuation(answer) {
  return { ...answer, status: "queued", error: null, cut: null, ended: false };
}

/**
 * Whether a snapshot of this attempt changes nothing. One of a newer attempt than ended continues the answer.
 * @param {Answer} answer @param {number} attempt
 */
function isOver(answer, attempt) {
  return attempt < answer.attempt || (answer.ended && attempt <= Math.max(answer.attempt, answer.stoppedAttempt));
}

/** @param {Answer} answer @param {wire.Packet} packet @returns {Answer} */
function applyPacket(answer, packet) {
  const { seq, obj } = packet;
  const next = { ...answer, seq, ...NOT_WAITING };
  if (isToolPacket(packet)) {
    // The reasoning before a round belongs to the round.
    return { ...next, reasoning: "", reasoningMs: null, rounds: withToolPacket(answer.rounds, packet, answer) };
  }
  switch (obj.type) {
    case "run_start":
      return { ...next, model: obj.model, status: "running" };
    case "reasoning_delta":
      return { ...next, reasoning: answer.reasoning + obj.text };
    case "reasoning_done":
      return obj.duration_ms === undefined
        ? next
        : { ...next, reasoningMs: (answer.reasoningMs ?? 0) + obj.duration_ms };
    case "message_delta":
      return { ...next, text: answer.text + obj.text };
    case "citation_info":
      return { ...next, citations: [...answer.citations, obj] };
    case "error":
      return { ...next, error: { code: obj.code, message: obj.message, retryable: obj.retryable } };
    case "stop":
      return {
        ...next,
        status: STATUS_AFTER[obj.stop_reason],
        rounds: endRunningCalls(answer.rounds),
        cut: cutOf(obj),
        ended: true,
        stoppedAttempt: answer.attempt,
      };
    default:
      return next; // a packet of a later release: counted, not shown
  }
}

/** @param {number} attempt */
function emptyContent(attempt) {
  return { attempt, seq: 0, ...EMPTY, ...NOT_WAITING };
}

/** @param {{finish_reason?: string, finish_tokens?: number}} ended a message or `stop` */
function cutOf({ finish_reason: reason, finish_tokens: tokens }) {
  return reason === undefined ? null : { reason, tokens: tokens ?? null };
}

/** What an answer shows of its message. @param {Message|MessageAnswer} message */
export function contentOf(message) {
  return {
    status: message.status ?? "running",
    text: message.text,
    reasoning: message.reasoning ?? "",
    reasoningMs: message.reasoning_ms ?? null,
    rounds: roundsOf(message.tool_calls),
    citations: message.citations ?? [],
    error: message.error ?? null,
    cut: cutOf(message),
  };
}
