/**
 * The state of one session's view, reduced from REST responses and socket events. Pure: no socket, no clock, no DOM.
 *
 * Laws: packets of a run are applied once and in order; what is missing is asked for again, never skipped;
 * a message read by REST plus the packets after its cursor shows the same text as all packets from the first.
 */

import { withNewest, withOlder, placeOf } from "./branch.js";
import { emptyAnswer, isTerminal, withContinuation, withPacket, withRead, withReset, withSnapshot } from "./answer.js";

/** @import {Answer, AttachedFile, Effect, Message, SessionState, Summary} from "../types.js" */

/** @param {string} session @returns {SessionState} */
export function emptyState(session) {
  return { session, n: null, branch: null, hasOlder: false, peeked: {}, answers: {}, summary: null, compressing: null };
}

/**
 * @typedef {object} Read  the newest page of the branch
 * @property {"read"} type
 * @property {Message[]} branch
 * @property {boolean} [isWhole]  nothing stands above the page; left out: true
 *
 * @typedef {{type: "older", first: string, branch: Message[], limit: number}} OlderRead  the page above `first`
 * @typedef {{type: "reread", message: Message}} Reread  one message of the branch
 * @typedef {{type: "peek", message: Message}} Peek  an attempt to show in a column
 * @typedef {{type: "sent", turn: string, runs: StartedRunAnswer[]}} Sent  a turn that this page has sent
 * @typedef {{type: "summary"} & CompressionRead} SummaryRead
 * @typedef {{summary: Summary|null, is_under_way: boolean}} CompressionRead
 * @typedef {(Read|OlderRead|Reread|Peek|Sent|SummaryRead) & {session?: string}} PageEvent  what this page has read or sent
 */

/**
 * Fold one frame, or what the page has read or sent, into the state.
 * @param {SessionState} state
 * @param {wire.Frame|PageEvent} frame
 * @returns {[SessionState, Effect[]]} the state is the same object if nothing changed
 */
export function fold(state, frame) {
  if ("session" in frame && frame.session !== state.session) return [state, []];
  switch (frame.type) {
    case "turn_started":
    case "run_continued":
    case "overall_stop":
    case "compression":
    case "session":
      return foldNumbered(state, frame);
    case "packet":
      return foldRun(state, frame, (answer) => withPacket(answer, frame));
    case "reset":
      return foldRun(state, frame, (answer) => withReset(answer, frame));
    case "snapshot":
      return foldRun(state, frame, (answer) => withSnapshot(answer, frame));
    case "queued":
      return foldRun(state, frame, (answer) => (answer.ended ? answer : { ...answer, position: frame.position }));
    case "heartbeat":
      return foldRun(state, frame, (answer) => (answer.ended ? answer : { ...answer, quiet: true }));
    case "subscribed":
      return foldSubscribed(state, frame);
    case "resync":
      return [{ ...state, n: frame.n }, ["read", "sessions", "summary"]];
    case "file":
      return foldFile(state, frame);
    default:
      return foldPageEvent(state, frame);
  }
}

/**
 * What to send so that the server continues where this state ends.
 * @param {SessionState} state
 * @returns {wire.SubscribeCommand}
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

/** @param {SessionState} state @param {wire.Frame|PageEvent} event @returns {[SessionState, Effect[]]} */
function foldPageEvent(state, event) {
  switch (event.type) {
    case "read":
      return foldRead(state, event);
    case "older":
      return foldOlder(state, event);
    case "reread":
      return foldReread(state, event);
    case "peek":
      return foldPeek(state, event);
    case "sent":
      return [withAnswers(state, unknownAnswers(state, event.turn, event.runs)), []];
    case "summary":
      return foldSummary(state, event);
    default:
      return [state, []];
  }
}

/**
 * A file of a message was read after the message: one that came with an import, or that is read again.
 * @param {SessionState} state @param {wire.FileFrame} frame @returns {[SessionState, Effect[]]}
 */
function foldFile(state, { id, token_count, has_thumbnail, table_rows, shown_rows }) {
  const isOf = (/** @type {Message} */ { files = [] }) => files.some((file) => file.id === id);
  if (!state.branch?.some(isOf)) return [state, []];
  const found = { token_count, has_thumbnail, ...(table_rows ? { table_rows, shown_rows } : {}) };
  const read = (/** @type {AttachedFile} */ file) => (file.id === id ? { ...file, ...found } : file);
  const branch = state.branch.map((message) =>
    isOf(message) ? { ...message, files: message.files?.map(read) } : message,
  );
  return [{ ...state, branch }, []];
}

/**
 * Session events are contiguous too: repeats change nothing, a gap asks again.
 * @param {SessionState} state
 * @param {wire.TurnStarted|wire.RunContinuedFrame|wire.OverallStop|wire.CompressionFrame|wire.SessionFrame} frame
 * @returns {[SessionState, Effect[]]}
 */
function foldNumbered(state, frame) {
  if (state.n !== null && frame.n <= state.n) return [state, []];
  if (state.n !== null && frame.n > state.n + 1) return [state, ["resubscribe"]];
  const numbered = { ...state, n: frame.n };
  switch (frame.type) {
    case "turn_started":
      return foldTurnStarted(numbered, frame);
    case "run_continued":
      return foldRunContinued(numbered, frame);
    case "compression":
      return foldCompression(numbered, frame);
    case "overall_stop":
      return [numbered, ["sessions"]];
    case "session":
      return [numbered, ["read", "sessions"]];
  }
}

/**
 * @param {SessionState} state
 * @param {wire.Packet|wire.Reset|wire.Snapshot|wire.Queued|wire.Heartbeat} frame
 * @param {(answer: Answer) => Answer|null} change
 * @returns {[SessionState, Effect[]]}
 */
function foldRun(state, frame, change) {
  const answer = state.answers[frame.run];
  // Only packets say which session they belong to; anything else about an unknown run is another session's.
  if (!answer) return [state, frame.type === "packet" ? ["resubscribe"] : []];
  const changed = change(answer);
  if (changed === null) return [state, ["resubscribe"]];
  return changed === answer ? [state, []] : [withAnswers(state, [changed]), []];
}

/** @param {SessionState} state @param {wire.Subscribed} frame @returns {[SessionState, Effect[]]} */
function foldSubscribed(state, frame) {
  const { runs } = frame;
  const listed = new Set(runs.map((info) => info.run));
  const unknown = runs.filter((info) => !state.answers[info.run]).map(emptyAnswer);
  const next = { ...withAnswers(state, unknown), n: state.n ?? frame.n };
  // The first subscription says nothing about what happened before it, and neither do late events of an earlier view of
  // the session, which number the state as well; a live run the server does not know ended.
  const mustRead =
    state.n === null || state.branch === null || liveAnswers(state).some((answer) => !listed.has(answer.run));
  return [next, mustRead ? ["read"] : []];
}

/** @param {SessionState} state @param {wire.TurnStarted} frame @returns {[SessionState, Effect[]]} */
function foldTurnStarted(state, frame) {
  const started = unknownAnswers(state, frame.turn, frame.runs);
  // A retry is what its column shows now.
  const peeked = Object.fromEntries(
    Object.entries(state.peeked).filter(([, { parent }]) => parent !== frame.user_message),
  );
  return [{ ...withAnswers(state, started), peeked }, ["read", "sessions"]];
}

/** Without those that the branch already shows complete. @param {SessionState} state @param {string} turn @param {StartedRunAnswer[]} runs */
function unknownAnswers(state, turn, runs) {
  const complete = new Set(state.branch?.filter((message) => isTerminal(message.status)).map(({ id }) => id));
  return runs
    .map(({ id, ...started }) => emptyAnswer({ ...started, run: id, turn }))
    .filter((answer) => !state.answers[answer.run] && !complete.has(answer.message));
}

/** @param {SessionState} state @param {wire.RunContinuedFrame} frame @returns {[SessionState, Effect[]]} */
function foldRunContinued(state, frame) {
  const answer = state.answers[frame.run];
  // Its packets may have overtaken the event.
  const isNews = answer?.ended && answer.attempt < frame.attempt;
  return [isNews ? withAnswers(state, [withContinuation(answer)]) : state, ["read", "sessions"]];
}

/** @param {SessionState} state @param {Read} event @returns {[SessionState, Effect[]]} */
function foldRead(state, { branch, isWhole = true }) {
  // Another branch may have another summary, or none.
  return [{ ...withMessages(state, branch), ...withNewest(state, branch, isWhole) }, state.summary ? ["summary"] : []];
}

/** @param {SessionState} state @param {OlderRead} event @returns {[SessionState, Effect[]]} */
function foldOlder(state, { first, branch, limit }) {
  const known = withOlder(state, first, branch, limit);
  return [known ? { ...withMessages(state, branch), ...known } : state, []];
}

/** @param {SessionState} state @param {Reread} event @returns {[SessionState, Effect[]]} */
function foldReread(state, { message }) {
  const branch = state.branch?.map((known) => (known.id === message.id ? message : known)) ?? null;
  return [{ ...withMessages(state, [message]), branch }, []];
}

/** @param {SessionState} state @param {Peek} event @returns {[SessionState, Effect[]]} */
function foldPeek(state, { message }) {
  return [{ ...withMessages(state, [message]), peeked: { ...state.peeked, [placeOf(message)]: message } }, []];
}

/** @param {SessionState} state @param {SummaryRead} event @returns {[SessionState, Effect[]]} */
function foldSummary(state, { summary, is_under_way }) {
  const isSame = summary?.id === state.summary?.id;
  return [{ ...state, summary: isSame ? state.summary : summary, compressing: is_under_way ? "under_way" : null }, []];
}

/** @type {Partial<Record<wire.CompressionFrame["status"], SessionState["compressing"]>>} */
const AFTER = { started: "under_way", failed: "failed" };

/** @param {SessionState} state @param {wire.CompressionFrame} frame @returns {[SessionState, Effect[]]} */
function foldCompression(state, { status }) {
  const compressing = AFTER[status] ?? null;
  return [{ ...state, compressing }, status === "done" || status === "deleted" ? ["summary"] : []];
}

/** With what was read of these messages and of those beside them. @param {SessionState} state @param {Message[]} messages */
function withMessages(state, messages) {
  const read = messages
    .flatMap((message) => [message, ...(message.alongside ?? [])])
    .map((message) =>
      message.role === "assistant" && message.run !== undefined
        ? withRead(state.answers[message.run], message)
        : undefined,
    )
    .filter((answer) => answer !== undefined);
  return withAnswers(state, read);
}

/** @param {SessionState} state @param {Answer[]} answers @returns {SessionState} */
function withAnswers(state, answers) {
  if (answers.length === 0) return state;
  return { ...state, answers: { ...state.answers, ...Object.fromEntries(answers.map((a) => [a.run, a])) } };
}
