/**
 * Keeps one session's state up to date: reads it, subscribes to it, reduces what arrives, runs the effects of the
 * reducer, and tells which turns have ended.
 */

import * as api from "./api.js";
import { RetriedCommand } from "./socket.js";
import { PAGE, isConnected } from "../state/branch.js";
import { emptyState, fold, subscription, liveAnswers } from "../state/session_state.js";

/** @import {Effect, SessionState} from "../types.js" */

const RESUBSCRIBE_PAUSE_MS = 500;
const READ_RETRY_MS = 2_000;
/** The largest page of the API. */
const LONGEST_READ = 1_000;
// The messages of one turn: there is nothing older to summarise.
const ONE_TURN = 2;

export class LiveSession {
  /**
   * @param {string} id
   * @param {import("./socket.js").Socket} socket
   * @param {{changed: () => void, sessionsChanged: () => void, turnEnded: (reason: wire.StopReason) => void, failed: (error: Error) => void}} listener
   */
  constructor(id, socket, listener) {
    /** @type {SessionState} */
    this.state = emptyState(id);
    this.socket = socket;
    this.listener = listener;
    /** @type {Promise<void>|null} */
    this.reading = null;
    this.mustRead = false;
    this.isReadingOlder = false;
    this.hasLookedForSummary = false;
    /** The number of compression events received. */
    this.compressionEvents = 0;
    /** @type {Set<ReturnType<typeof setTimeout>>} */
    this.timers = new Set();
    this.isPausing = false;
    this.mustResubscribe = false;
    this.isClosed = false;
    // While the server cannot push, what is stored is shown.
    this.subscribing = new RetriedCommand(
      socket,
      () => subscription(this.state),
      () => this.read(),
    );
    // If connected, subscribe before reading, so that nothing is missed in between. Otherwise show what
    // can be read at once; the connection will do both.
    if (!this.subscribe()) this.read();
  }

  close() {
    this.isClosed = true;
    this.timers.forEach(clearTimeout);
    this.subscribing.close();
    this.socket.send({ type: "unsubscribe", session: this.state.session });
  }

  /** Also called whenever the socket (re)connects. */
  subscribe() {
    return this.subscribing.send();
  }

  /** One object from the socket. @param {wire.Frame} frame */
  receive(frame) {
    this.subscribing.receive(frame);
    if (frame.type === "compression") this.compressionEvents += 1;
    this.#fold(frame);
    if (frame.type === "turn_started") this.#rereadFarAbove(frame.user_message);
  }

  /** A turn that this page has started: it may have ended before the subscription begins. @param {StartedAnswer} turn */
  expect({ turn, runs }) {
    this.#fold({ type: "sent", session: this.state.session, turn, runs });
  }

  /** Shows an earlier attempt in its column, beside the branch. @param {string} id */
  async peek(id) {
    const { session } = this.state;
    this.#fold({ type: "peek", session, message: await api.readMessage(session, id) });
  }

  /** Reads the branch by REST. Resolves when a read that started after this call has ended. */
  read() {
    this.mustRead = true;
    this.reading ??= this.#readWhileWanted();
    return this.reading;
  }

  async #readWhileWanted() {
    while (this.mustRead && !this.isClosed) {
      this.mustRead = false;
      await this.#readOnce();
    }
    this.reading = null;
  }

  async #readOnce() {
    const { session } = this.state;
    try {
      const { branch, isWhole } = await this.#readNewest(session);
      this.#fold({ type: "read", session, branch, isWhole });
      // Later changes of the summary are pushed by the socket.
      if (!this.hasLookedForSummary && branch.length > ONE_TURN) this.readSummary();
    } catch (error) {
      if (this.isClosed) return;
      this.listener.failed(error);
      if (error.isTemporary) this.#later(Math.max(READ_RETRY_MS, error.retryAfterS * 1000), () => this.read());
    }
  }

  /** An answer to this question is written again beside the branch, above the page that is read anew. @param {string} question */
  async #rereadFarAbove(question) {
    const { session, branch } = this.state;
    const above = (branch ?? []).slice(0, -PAGE);
    const answer = above.find(({ parent, role }) => role === "assistant" && parent === question);
    if (!answer) return;
    try {
      this.#fold({ type: "reread", session, message: await api.readMessage(session, answer.id) });
    } catch (error) {
      if (!this.isClosed) this.listener.failed(error);
    }
  }

  /** Reads until the page connects to the known branch, or as much as was known. @param {string} session */
  async #readNewest(session) {
    const known = this.state.branch ?? [];
    for (let limit = PAGE; ; limit = Math.min(known.length + PAGE, LONGEST_READ)) {
      const branch = await api.readBranch(session, limit);
      const isWhole = branch.length < limit;
      if (isWhole || known.length < limit || limit === LONGEST_READ || isConnected(known, branch))
        return { branch, isWhole };
    }
  }

  /** Reads the page above the known messages, if there is one. @param {number} [limit] @returns {Promise<boolean>} false: it could not be read now */
  async readOlder(limit = PAGE) {
    const { session, branch, hasOlder } = this.state;
    if (!branch || !hasOlder || this.isReadingOlder) return true;
    this.isReadingOlder = true;
    try {
      const first = branch[0].id;
      this.#fold({ type: "older", session, first, limit, branch: await api.readAbove(session, first, limit) });
      return true;
    } catch (error) {
      if (!this.isClosed) this.listener.failed(error);
      return this.isClosed || !error.isTemporary;
    } finally {
      this.isReadingOlder = false;
    }
  }

  /** Reads the summary of the current branch, and whether a compression is in progress. @returns {Promise<void>} */
  async readSummary() {
    const { session } = this.state;
    const eventsBefore = this.compressionEvents;
    try {
      const found = await api.readCompression(session);
      // An event that arrived meanwhile is newer than what was read.
      if (eventsBefore !== this.compressionEvents) return await this.readSummary();
      this.#fold({ type: "summary", session, ...found });
      this.hasLookedForSummary = true;
    } catch (error) {
      if (!this.isClosed) this.listener.failed(error);
    }
  }

  /** @param {wire.Frame|import("../state/session_state.js").PageEvent} frame */
  #fold(frame) {
    if (this.isClosed) return;
    const before = this.state;
    const [after, effects] = fold(before, frame);
    this.state = after;
    effects.forEach((effect) => this.#runEffect(effect));
    if (after !== before) this.listener.changed();
    turnEnds(before, after).forEach((reason) => this.listener.turnEnded(reason));
  }

  /** @param {Effect} effect */
  #runEffect(effect) {
    if (effect === "read") this.read();
    if (effect === "sessions") this.listener.sessionsChanged();
    if (effect === "summary") this.readSummary();
    if (effect === "resubscribe") this.#resubscribe();
  }

  /** At most once per pause: until the reply arrives, every further packet of the run reports the same gap. */
  #resubscribe() {
    this.mustResubscribe = this.isPausing;
    if (this.isPausing) return;
    this.isPausing = true;
    this.subscribe();
    this.#later(RESUBSCRIBE_PAUSE_MS, () => this.#endPause());
  }

  /** A gap reported during the pause may be a new one, and possibly no later packet reports it again. */
  #endPause() {
    this.isPausing = false;
    if (this.mustResubscribe) this.#resubscribe();
  }

  /** @param {number} ms @param {() => void} action */
  #later(ms, action) {
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      action();
    }, ms);
    this.timers.add(timer);
  }
}

/**
 * However the page learned of it: by packets, or by a read after the connection was lost.
 * @param {SessionState} before
 * @param {SessionState} after
 * @returns {wire.StopReason[]} as `overall_stop` has it, of the answers that were being written
 */
function turnEnds(before, after) {
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
