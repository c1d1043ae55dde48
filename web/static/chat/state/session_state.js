/**
 * The state of one session's view, reduced from REST responses and socket events. Pure: no socket, no clock, no DOM.
 *
 * Laws: packets of a run are applied once and in order; what is missing is asked for again, never skipped;
 * a message read by REST plus the packets after its cursor shows the same text as all packets from the first.
 */

import { withNewest, withOlder } from "./branch_pages.js";
import { placeOf } from "./columns.js";
import { emptyAnswer, isTerminal, withContinuation, withPacket, withRead, withReset, withSnapshot } from "./answer.js";

/** @import {Answer, AttachedFile, Effect, Message, SessionState} from "../types.js" */

/** @param {string} session @returns {SessionState} */
export function emptyState(session) {
  return { session, n: null, branch: null, hasOlder: false, peeked: {}, answers: {}, summary: null, compressing: null };
}

/**
 * Fold one frame, or a read of the branch (`{type: "read", branch, isWhole}`: the newest page; `{type: "older", first,
 * branch, limit}`: the page above `first`; `{type: "reread", message}`: one of its messages), of an attempt to show in a column
 * (`{type: "peek", message}`), of a turn that this page has sent (`{type: "sent", turn, runs}`) or of the summary (`{type: "summary", summary, is_under_way}`), into the state.
 * @param {SessionState} state
 * @param {any} frame
 * @returns {[SessionState, Effect[]]} the state is the same object if nothing changed
 */
export function fold(state, frame) {
  const isForeign = frame.session !== undefined && frame.session !== state.session;
  const handler = Object.hasOwn(HANDLERS, frame.type) ? HANDLERS[frame.type] : undefined;
  if (isForeign || !handler) return [state, []];
  return "n" in frame && NUMBERED.has(frame.type) ? foldNumbered(state, frame, handler) : handler(state, frame);
}

/**
 * What to send so that the server continues where this state ends.
 * @param {SessionState} state
 */
export function subscription(state) {
  const cursors = Object.fromEntries(
    liveAnswers(state)
      .filter((answer) => answer.attempt > 0)
      .map(({ run, attempt, seq }) => [run, { attempt, seq }]),
  );
  return { type: "subscribe", session: state.session, ...(state.n === null ? {} : { since: state.n }), cursors };
}

/** @param {SessionState} state @returns {Answer[]} */
export function liveAnswers(state) {
  return Object.values(state.answers).filter((answer) => !answer.ended);
}

/**
 * A message as it shows now: itself, or what its run has written since it was read.
 * @param {SessionState} state
 * @param {Message} message
 * @returns {Answer|undefined}
 */
export function answerTo(state, message) {
  return message.run === undefined ? undefined : state.answers[message.run];
}

/** @param {SessionState} state @param {Message|undefined} message */
export function isLive(state, message) {
  if (!message || message.role !== "assistant") return false;
  const answer = answerTo(state, message);
  return answer ? !answer.ended : !isTerminal(message.status);
}

const NUMBERED = new Set(["turn_started", "run_continued", "overall_stop", "compression", "session"]);

/** @typedef {(state: SessionState, frame: any) => [SessionState, Effect[]]} Handler */

/** @type {Record<string, Handler>} */
const HANDLERS = {
  read: foldRead,
  older: foldOlder,
  reread: foldReread,
  peek: foldPeek,
  summary: foldSummary,
  subscribed: foldSubscribed,
  resync: (state, frame) => [{ ...state, n: frame.n }, ["read", "sessions", "summary"]],
  sent: (state, { turn, runs }) => [withAnswers(state, unknownAnswers(state, turn, runs)), []],
  turn_started: foldTurnStarted,
  run_continued: foldRunContinued,
  overall_stop: (state) => [state, ["sessions"]],
  session: (state) => [state, ["read", "sessions"]],
  compression: foldCompression,
  file: foldFile,
  packet: (state, frame) => foldRun(state, frame, withPacket),
  reset: (state, frame) => foldRun(state, frame, withReset),
  snapshot: (state, frame) => foldRun(state, frame, withSnapshot),
  queued: (state, frame) =>
    foldRun(state, frame, (answer) => (answer.ended ? answer : { ...answer, position: frame.position })),
  heartbeat: (state, frame) => foldRun(state, frame, (answer) => (answer.ended ? answer : { ...answer, quiet: true })),
};

/**
 * A file of a message was read after the message: one that came with an import, or that is read again.
 * @param {SessionState} state @param {any} frame @returns {[SessionState, Effect[]]}
 */
function foldFile(state, { id, token_count, has_thumbnail, table_rows, shown_rows }) {
  const isOf = (/** @type {Message} */ { files = [] }) => files.some((file) => file.id === id);
  if (!state.branch?.some(isOf)) return [state, []];
  const found = { token_count, has_thumbnail, ...(table_rows ? { table_rows, shown_rows } : {}) };
  const read = (/** @type {AttachedFile} */ file) => (file.id === id ? { ...file, ...found } : file);
  const branch = state.branch.map((message) =>
    isOf(message) ? { ...message, files: message.files.map(read) } : message,
  );
  return [{ ...state, branch }, []];
}

/**
 * Session events are contiguous too: repeats change nothing, a gap asks again.
 * @param {SessionState} state @param {any} frame @param {Handler} handler @returns {[SessionState, Effect[]]}
 */
function foldNumbered(state, frame, handler) {
  if (state.n !== null && frame.n <= state.n) return [state, []];
  if (state.n !== null && frame.n > state.n + 1) return [state, ["resubscribe"]];
  return handler({ ...state, n: frame.n }, frame);
}

/**
 * @param {SessionState} state @param {any} frame @param {(answer: Answer, frame: any) => Answer|null} change
 * @returns {[SessionState, Effect[]]}
 */
function foldRun(state, frame, change) {
  const answer = state.answers[frame.run];
  // Only packets say which session they belong to; anything else about an unknown run is another session's.
  if (!answer) return [state, frame.type === "packet" ? ["resubscribe"] : []];
  const changed = change(answer, frame);
  if (changed === null) return [state, ["resubscribe"]];
  return changed === answer ? [state, []] : [withAnswers(state, [changed]), []];
}

/** @type {Handler} */
function foldSubscribed(state, frame) {
  /** @type {import("../types.js").RunInfo[]} */
  const runs = frame.runs;
  const listed = new Set(runs.map((info) => info.run));
  const unknown = runs.filter((info) => !state.answers[info.run]).map(emptyAnswer);
  const next = { ...withAnswers(state, unknown), n: state.n ?? frame.n };
  // The first subscription says nothing about what happened before it, and neither do late events of an earlier view of
  // the session, which number the state as well; a live run the server does not know ended.
  const mustRead =
    state.n === null || state.branch === null || liveAnswers(state).some((answer) => !listed.has(answer.run));
  return [next, mustRead ? ["read"] : []];
}

/** @type {Handler} */
function foldTurnStarted(state, frame) {
  const started = unknownAnswers(state, frame.turn, frame.runs);
  // A retry is what its column shows now.
  const peeked = Object.fromEntries(
    Object.entries(state.peeked).filter(([, { parent }]) => parent !== frame.user_message),
  );
  return [{ ...withAnswers(state, started), peeked }, ["read", "sessions"]];
}

/** Without those that the branch already shows complete. @param {SessionState} state @param {string} turn @param {import("../types.js").RunInfo[]} runs */
function unknownAnswers(state, turn, runs) {
  const complete = new Set(state.branch?.filter((message) => isTerminal(message.status)).map(({ id }) => id));
  return runs
    .map((info) => emptyAnswer({ ...info, turn }))
    .filter((answer) => !state.answers[answer.run] && !complete.has(answer.message));
}

/** @type {Handler} */
function foldRunContinued(state, frame) {
  const answer = state.answers[frame.run];
  // Its packets may have overtaken the event.
  const isNews = answer?.ended && answer.attempt < frame.attempt;
  return [isNews ? withAnswers(state, [withContinuation(answer)]) : state, ["read", "sessions"]];
}

/** @type {Handler} */
function foldRead(state, { branch, isWhole = true }) {
  // Another branch may have another summary, or none.
  return [{ ...withMessages(state, branch), ...withNewest(state, branch, isWhole) }, state.summary ? ["summary"] : []];
}

/** @type {Handler} */
function foldOlder(state, { first, branch, limit }) {
  const known = withOlder(state, first, branch, limit);
  return [known ? { ...withMessages(state, branch), ...known } : state, []];
}

/** @type {Handler} */
function foldReread(state, { message }) {
  const branch = state.branch.map((known) => (known.id === message.id ? message : known));
  return [{ ...withMessages(state, [message]), branch }, []];
}

/** @type {Handler} */
function foldPeek(state, { message }) {
  return [{ ...withMessages(state, [message]), peeked: { ...state.peeked, [placeOf(message)]: message } }, []];
}

/** @type {Handler} */
function foldSummary(state, { summary, is_under_way }) {
  const isSame = summary?.id === state.summary?.id;
  return [{ ...state, summary: isSame ? state.summary : summary, compressing: is_under_way ? "under_way" : null }, []];
}

/** @type {Record<string, SessionState["compressing"]>} */
const AFTER = { started: "under_way", failed: "failed" };

/** @type {Handler} */
function foldCompression(state, { status }) {
  const compressing = AFTER[status] ?? null;
  return [{ ...state, compressing }, status === "done" || status === "deleted" ? ["summary"] : []];
}

/** With what was read of these messages and of those beside them. @param {SessionState} state @param {Message[]} messages */
function withMessages(state, messages) {
  const read = messages
    .flatMap((message) => [message, ...(message.alongside ?? [])])
    .filter((message) => message.role === "assistant" && message.run !== undefined)
    .map((message) => withRead(state.answers[message.run], message))
    .filter((answer) => answer !== undefined);
  return withAnswers(state, read);
}

/** @param {SessionState} state @param {Answer[]} answers @returns {SessionState} */
function withAnswers(state, answers) {
  if (answers.length === 0) return state;
  return { ...state, answers: { ...state.answers, ...Object.fromEntries(answers.map((a) => [a.run, a])) } };
}
