/** Sends messages from the composer to the server, and withdraws queued questions. */

import { withdrawable } from "../conversation/queue.js";
import { createSession, withdraw } from "../server/sessions_api.js";

/** @import {DraftFile} from "./pasted_texts.js" */
/** @import {Message, Session, SessionState} from "../types.js" */
/** @typedef {{text: string, files: DraftFile[]}} Pending  a message that is being sent */

const TITLE_CHARACTERS = 60;

export class MessageSender {
  /**
   * @param {object} page
   * @param {() => import("../server/live_session.js").LiveSession|null} page.live
   * @param {import("./answer_settings.js").AnswerSettings} page.answering
   * @param {import("../conversation/turn_actions.js").TurnActions} page.turn
   * @param {() => string|null} page.project  that a new chat belongs to
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
    const { bases, tool } = this.page.answering;
    const isAccepted = (await this.#ensureSession(text)) && (await this.page.turn.send(text, { tool: tool.chosen, bases: bases.picked, files: files.map(({ id }) => id) }));
    if (isAccepted) {
      tool.choose(null);
      bases.pick([]);
    }
    this.pending = null;
    this.page.changed();
    return isAccepted;
  }

  /** Withdraws the newest question while it waits for the answer above; it returns to the composer. @param {Message} question */
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
    const found = state ? withdrawable(state) : null;
    if (found) this.withdraw(found.question);
    return found !== null;
  }

  /** The first message creates the session, so that opening an empty page creates none. @param {string} text */
  async #ensureSession(text) {
    if (this.page.live()) return true;
    const { forNew, basesForNew, models } = this.page.answering;
    const project = this.page.project();
    return this.page.attempt(async () => {
      const beginning = text.trim().split("\n")[0].slice(0, TITLE_CHARACTERS);
      const title = this.page.isNamedLater ? "" : beginning;
      const session = await createSession({ title, models, ...(forNew ? { agent: forNew } : {}), ...(project ? { project } : {}), ...(basesForNew.length ? { knowledge_bases: basesForNew } : {}) });
      this.pending.session = session.id;
      this.page.created(session, beginning);
    });
  }
}
