/** Sends messages from the composer to the server, and withdraws queued questions. */

import { shortened } from "../elements/shortened.js";
import { newestWaiting } from "../conversation/queue.js";
import { createSession, discardSession, withdraw } from "../server/sessions_api.js";

/** @import {DraftFile} from "./pasted_texts.js" */
/** @import {Message, Session, SessionState} from "../types.js" */
/** @import {MessageParts} from "../conversation/turn_actions.js" */
/** @typedef {{text: string, files: DraftFile[]}} Pending  a message that is being sent */

const TITLE_CHARACTERS = 60;

export class MessageSender {
  /**
   * @param {object} page
   * @param {() => import("../server/live_session.js").LiveSession|null} page.live
   * @param {import("./answer_settings.js").AnswerSettings} page.answering
   * @param {import("../conversation/turn_actions.js").TurnActions} page.turn
   * @param {() => string|null} page.project  that a new chat belongs to
   * @param {() => boolean} page.isTemporary  a new chat is to be so
   * @param {boolean} page.isNamedLater  a model names chats after the first answer
   * @param {(session: Session, beginning: string) => void} page.created
   * @param {(session: string|null, question: Message) => void} page.giveBack
   * @param {(action: () => Promise<any>) => Promise<boolean>} page.attempt
   * @param {() => void} page.changed
   */
  constructor(page) {
    this.page = page;
    /** The message being sent, the chat, and the end of the branch before it. */
    this.pending = /** @type {(Pending & {session: string|null, after: string|undefined})|null} */ (null);
  }

  /** What is being sent and not yet on the branch. @param {SessionState|null} state @returns {Pending|null} */
  pendingFor(state) {
    if (!this.pending || this.pending.session !== (state?.session ?? null)) return null;
    const isSeen = state?.branch && state.branch.at(-1)?.id !== this.pending.after;
    return isSeen ? null : this.pending;
  }

  /** @param {string} text @param {DraftFile[]} files @returns {Promise<boolean>} whether it was accepted */
  async send(text, files) {
    const state = this.page.live()?.state;
    this.pending = { text, files, session: state?.session ?? null, after: state?.branch?.at(-1)?.id };
    this.page.changed();
    await this.page.answering.ready;
    const { bases, tool, options } = this.page.answering;
    const more = { tool: tool.chosen, bases: bases.picked, options: options.ofNextMessage, files: files.map(({ id }) => id) };
    const isAccepted = await (state ? this.page.turn.send(text, more) : this.#begin(text, more));
    if (isAccepted) {
      tool.choose(null);
      bases.pick([]);
    }
    options.sendNextWith(isAccepted ? null : more.options);
    this.pending = null;
    this.page.changed();
    return isAccepted;
  }

  /**
   * The first message creates the session, so that opening an empty page creates none, and a refused message leaves none.
   * @param {string} text @param {MessageParts} more
   */
  async #begin(text, more) {
    const beginning = shortened(text.trim().split("\n")[0].trimEnd(), TITLE_CHARACTERS);
    /** @type {Session|null} */
    let session = null;
    const create = async () => (session = await createSession(this.#newSession(beginning)));
    if (!(await this.page.attempt(create))) return false;
    const started = await this.page.turn.begin(session.id, text, more);
    if (started === false) discardSession(session.id).catch(() => {});
    else await this.#open(session, beginning, started);
    return Boolean(started);
  }

  /** @param {Session} session @param {string} beginning @param {import("../conversation/turn_actions.js").StartedTurn|null} started null: unknown */
  async #open(session, beginning, started) {
    this.pending.session = session.id;
    this.page.created(session, beginning);
    const live = this.page.live();
    if (started) live?.expect(started);
    await live?.read();
  }

  /** @param {string} beginning of its first message */
  #newSession(beginning) {
    const { forNew, basesForNew, models, options } = this.page.answering;
    const project = this.page.project();
    const isTemporary = !project && this.page.isTemporary();
    const title = this.page.isNamedLater || isTemporary ? "" : beginning;
    return { title, models, ...(isTemporary ? { is_temporary: true } : {}), ...options.ofNewChat, ...(forNew ? { agent: forNew } : {}), ...(project ? { project } : {}), ...(basesForNew.length ? { knowledge_bases: basesForNew } : {}) };
  }

  /** Withdraws a question while it waits for the answer above; it returns to the composer. @param {Message} question */
  withdraw(question) {
    const live = this.page.live();
    return this.page.attempt(async () => {
      await withdraw(question.id);
      this.page.giveBack(live.state.session, question);
      await live.read();
    });
  }

  /** @returns {boolean} false: no question is queued */
  withdrawLatest() {
    const state = this.page.live()?.state;
    const found = state ? newestWaiting(state) : undefined;
    if (found) this.withdraw(found);
    return found !== undefined;
  }
}
