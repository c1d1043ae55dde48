/** Sends messages from the composer to the server, and withdraws queued questions. */

import { newestWaiting } from "../conversation/queue.js";
import { createSession, discardSession, withdraw } from "../server/api.js";

/** @import {DraftFile} from "./drafts.js" */
/** @import {Message, Session, SessionState} from "../types.js" */
/** @import {MessageParts} from "../conversation/turn_actions.js" */
/** @typedef {{text: string, files: DraftFile[]}} Pending  a message that is being sent */

const TITLE_CHARACTERS = 60;
const HALF_A_CHARACTER = /[\ud800-\udbff]$/;

export class MessageSender {
  /**
   * @param {object} page
   * @param {() => import("../server/live_session.js").LiveSession|null} page.live
   * @param {import("./answer_settings.js").AnswerSettings} page.answering
   * @param {import("../conversation/turn_actions.js").TurnActions} page.turn
   * @param {() => string|null} page.project  that a new chat belongs to
   * @param {() => boolean} page.isTemporary  a new chat is to be so
   * @param {boolean} page.isNamedLater  a model names chats after the first answer
   * @param {() => object} page.place  what is shown: another object with each click that leads elsewhere
   * @param {(session: Session, beginning: string, place: object) => void} page.created  opens it, if the place where its first message was sent is still shown
   * @param {(session: string|null, question: Message) => void} page.giveBack
   * @param {(action: () => Promise<any>) => Promise<boolean>} page.attempt
   * @param {() => void} page.changed
   */
  constructor(page) {
    this.page = page;
    /** The message being sent, the chat, and the end of the branch before it. */
    this.pending = /** @type {(Pending & {session: string|null, after: string|undefined, place: object})|null} */ (
      null
    );
  }

  /** What is being sent and not yet on the branch. @param {SessionState|null} state @returns {Pending|null} */
  pendingFor(state) {
    if (!this.pending || this.pending.session !== (state?.session ?? null)) return null;
    const isSeen = state?.branch && state.branch.at(-1)?.id !== this.pending.after;
    return isSeen ? null : this.pending;
  }

  /** @param {string} text @param {DraftFile[]} files @returns {Promise<boolean>} whether it was accepted */
  async send(text, files) {
    // All of it as it is now: another chat may be opened before it is known who can answer.
    const live = this.page.live();
    const { bases, tool, options } = this.page.answering;
    const more = {
      tool: tool.chosen,
      bases: bases.picked,
      options: options.ofNextMessage,
      files: files.map(({ id }) => id),
    };
    this.pending = {
      text,
      files,
      session: live?.state.session ?? null,
      after: live?.state.branch?.at(-1)?.id,
      place: this.page.place(),
    };
    this.page.changed();
    const chat = live ? null : this.#newChat();
    await this.page.answering.ready;
    const isAccepted = await (live ? this.page.turn.send(text, more, live) : this.#begin(chat, text, more));
    // What was chosen since is for the next message.
    if (isAccepted && tool.chosen === more.tool) tool.choose(null);
    if (isAccepted && bases.picked === more.bases) bases.pick([]);
    if (this.pending.session === this.#open) options.sendNextWith(isAccepted ? null : more.options);
    this.pending = null;
    this.page.changed();
    return isAccepted;
  }

  /**
   * The first message creates the session, so that opening an empty page creates none, and a refused message leaves none.
   * @param {object} chat @param {string} text @param {MessageParts} more
   */
  async #begin(chat, text, more) {
    const words = text.trim() || this.pending.files.map(({ name }) => name).join(", ");
    const beginning = shortened(words.split("\n")[0].trimEnd(), TITLE_CHARACTERS);
    /** @type {Session|null} */
    let session = null;
    const title = this.page.isNamedLater || "is_temporary" in chat ? "" : beginning;
    // Those of a chat that was opened meanwhile are others: the server chooses.
    const models = this.#open === null ? this.page.answering.models : [];
    const create = async () => (session = await createSession({ title, models, ...chat }));
    if (!(await this.page.attempt(create))) return false;
    const started = await this.page.turn.begin(session.id, text, { ...more, models });
    if (started === false) discardSession(session.id).catch(() => {});
    else await this.#show(session, beginning, started);
    return Boolean(started);
  }

  /** @param {Session} session @param {string} beginning @param {StartedAnswer|null} started null: unknown */
  async #show(session, beginning, started) {
    this.pending.session = session.id;
    this.page.created(session, beginning, this.pending.place);
    const live = this.page.live();
    if (live?.state.session !== session.id) return; // another chat was opened meanwhile
    if (started) live.expect(started);
    await live.read();
  }

  /** The chat that is open. @returns {string|null} */
  get #open() {
    return this.page.live()?.state.session ?? null;
  }

  /** What the next new chat is created with, beside its title and its models. */
  #newChat() {
    const { forNew, basesForNew, options } = this.page.answering;
    const project = this.page.project();
    const isTemporary = !project && this.page.isTemporary();
    return {
      ...(isTemporary ? { is_temporary: true } : {}),
      ...options.ofNewChat,
      ...(forNew ? { agent: forNew } : {}),
      ...(project ? { project } : {}),
      ...(basesForNew.length ? { knowledge_bases: basesForNew } : {}),
    };
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

/** Cuts a text at a space if there is one in the second half, with "…" if anything was cut. @param {string} text one line @param {number} most characters */
export function shortened(text, most) {
  if (text.length <= most) return text;
  const begin = text.slice(0, most - 1).replace(HALF_A_CHARACTER, "");
  const space = text[begin.length] === " " ? begin.length : begin.lastIndexOf(" ");
  return `${(space >= most / 2 ? begin.slice(0, space) : begin).trimEnd()}…`;
}
