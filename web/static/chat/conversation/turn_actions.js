/**
 * The user's actions on a conversation and its messages. Each returns whether the server accepted it; failures are
 * reported.
 */

import * as api from "../server/api.js";
import { UndoNotice } from "../elements/notices.js";
import { sendFeedback } from "../feedback/feedback_view.js";
import { t } from "../i18n.js";
import { mayDeleteMessage } from "../sessions/deletion.js";
import { isOnCurrentBranch } from "../state/branch.js";

/** @import {Message} from "../types.js" */

/**
 * @typedef {object} MessageParts  what a message has beside its text
 * @property {string} [parent]  left out: the end of the current branch
 * @property {string[]} [files]  ids
 * @property {string|null} [tool]  that the answer has to begin with
 * @property {string[]} [bases]  ids of knowledge bases: the answer comes from these alone
 * @property {{additional_context?: string, instructions?: string}} [beside]  what a program sent with it
 * @property {OptionsBody|null} [options]  over those of the chat
 * @property {string[]} [models]  left out: those of the chat, if it is open
 */

export class TurnActions {
  /**
   * @param {object} page
   * @param {() => import("../server/live_session.js").LiveSession|null} page.live
   * @param {() => string[]} page.models  the picked ones
   * @param {() => string[]} page.offered  those that may be asked
   * @param {() => import("../types.js").Session|undefined} page.session  the open one, once it is known
   * @param {(error: Error) => void} page.failed
   */
  constructor(page) {
    this.page = page;
    /**
     * The newest text sent without an answer and its id: sent again, it is the same message.
     * @type {{key: string, id: string}|null}
     */
    this.unconfirmed = null;
  }

  /** @param {string} text @param {MessageParts} [more] @param {import("../server/live_session.js").LiveSession} [live] left out: of the open chat */
  send(text, more, live = this.page.live()) {
    return this.#attempt(async () => {
      live.expect(await this.#start(live.state.session, text, more));
      await live.read();
    });
  }

  /**
   * Sends the first message of a chat that was created for it.
   * @param {string} session @param {string} text @param {MessageParts} more
   * @returns {Promise<StartedAnswer|false|null>} false: the server refused it; null: it may have accepted it
   */
  async begin(session, text, more) {
    try {
      return await this.#start(session, text, more);
    } catch (/** @type {any} */ error) {
      this.page.failed(error);
      return error.status >= 400 && error.status < 500 ? false : null;
    }
  }

  /** @param {string} session @param {string} text @param {MessageParts} [more] @returns {Promise<StartedAnswer>} */
  async #start(
    session,
    text,
    { parent, files = [], tool = null, bases = [], beside = {}, options = null, models = this.#models(session) } = {},
  ) {
    const placed = parent === undefined ? {} : { parent };
    const body = {
      text,
      ...(models.length ? { models } : {}),
      ...placed,
      ...(files.length ? { files } : {}),
      ...(tool ? { forced_tool: tool } : {}),
      ...(bases.length ? { knowledge_bases: bases } : {}),
      ...beside,
      ...(options ? { options } : {}),
    };
    const key = JSON.stringify([session, body]);
    if (this.unconfirmed?.key !== key) this.unconfirmed = { key, id: api.randomId() };
    const started = await api.startTurn(session, { ...body, client_message_id: this.unconfirmed.id });
    this.unconfirmed = null;
    return started;
  }

  /** A message is edited by sending another one to the same parent, with the same files, knowledge bases and context. @param {Message} message @param {string} text */
  edit(message, text) {
    const { additional_context, instructions } = message;
    const files = (message.files ?? []).map(({ id }) => id);
    return this.send(text, {
      parent: message.parent,
      files,
      bases: message.knowledge_bases,
      beside: instructions ? { instructions } : additional_context ? { additional_context } : {},
    });
  }

  /** @param {Message} question that waits for the answer above @param {string} text */
  change(question, text) {
    return this.#attempt(async () => {
      await api.changeQuestion(question.id, text);
      await this.page.live()?.read();
    });
  }

  /** The user's text becomes another answer to the same question. @param {string} answer @param {string} text */
  editAnswer(answer, text) {
    return this.#attempt(async () => {
      await api.editAnswer(answer, text);
      await this.page.live()?.read();
    });
  }

  /**
   * @param {Message} answer
   * @param {string} [model] left out: the one that answered, if it still may be asked
   * @param {boolean} [isInColumns] the new answer stands in its place, beside the others
   */
  regenerate(answer, model = answer.model, isInColumns = false) {
    const replace = isInColumns ? { replace: { run: answer.run } } : {};
    const picked = isInColumns ? [] : this.#models();
    const names = this.page.offered().includes(model) ? [model] : picked;
    const models = names.length ? { models: names } : {};
    return this.#attempt(async () => {
      await api.regenerate(answer.parent, { ...models, ...replace });
      await this.page.live()?.read();
    });
  }

  /** @param {string} id a message that becomes current, with the path to it */
  select(id) {
    return this.#attempt(async () => {
      await api.select(id);
      await this.page.live()?.read();
    });
  }

  /** Opens a new chat with the branch up to an answer. @param {string} id */
  fork(id) {
    return this.#attempt(async () => {
      const fork = await api.forkSession(this.page.live().state.session, id);
      location.hash = fork.id;
    });
  }

  /** With all below it, into the trash if it can be. @param {string} id */
  remove(id) {
    return this.#attempt(async () => {
      if (!(await mayDeleteMessage(this.page.session()))) return;
      const { part } = await api.deleteMessage(id);
      await this.page.live()?.read();
      const words = t("The message was deleted, with all that followed it.");
      if (part) new UndoNotice(words, () => this.#attempt(() => this.#putBack(part)));
    });
  }

  /** @param {string} part */
  async #putBack(part) {
    await api.restoreSession(part);
    await this.page.live()?.read();
  }

  /** Makes a message current if it stands on another branch. @param {string} id */
  bringUp(id) {
    return this.#attempt(async () => {
      const live = this.page.live();
      if (isOnCurrentBranch(await api.readTree(live.state.session), id)) return;
      await api.select(id);
      await live.read();
    });
  }

  /** @param {string} id an earlier attempt, shown in its column beside the branch */
  peek(id) {
    return this.#attempt(() => this.page.live()?.peek(id));
  }

  /** By the socket if it is open, else by REST. @param {string} run */
  stopRun(run) {
    return this.#attempt(async () => {
      if (!this.page.live()?.socket.send({ type: "stop", run })) await api.cancelRun(run);
    });
  }

  /** With an answer that is incomplete. @param {string} run */
  goOn(run) {
    return this.#attempt(async () => {
      await api.continueRun(run);
      await this.page.live()?.read();
    });
  }

  /** @param {string} message @param {import("../feedback/feedback_view.js").Feedback} feedback null: removed */
  giveFeedback(message, feedback) {
    return this.#attempt(() => sendFeedback(message, feedback));
  }

  /** Reads the full output of a tool; empty if it cannot be read. @param {string} message @param {string} call */
  async readToolOutput(message, call) {
    let output = "";
    await this.#attempt(async () => {
      const read = await api.readMessage(this.page.live()?.state.session, message);
      output = allCalls(read.tool_calls).find(({ id }) => id === call)?.response ?? "";
    });
    return output;
  }

  /** Until the models are loaded, and for a chat that is not open any more, the server chooses. @param {string} [session] left out: the open one */
  #models(session = this.page.live()?.state.session) {
    return this.page.live()?.state.session === session ? this.page.models() : [];
  }

  /** @param {() => Promise<any>} action */
  async #attempt(action) {
    try {
      await action();
      return true;
    } catch (error) {
      this.page.failed(error);
      return false;
    }
  }
}

/** @param {any[]} [calls] @returns {any[]} those inside others, too */
const allCalls = (calls = []) => calls.flatMap((call) => [call, ...allCalls(call.children)]);

/**
 * @param {object} page
 * @param {TurnActions} page.turn
 * @param {import("../composer/run_stopper.js").RunStopper} page.stopper
 * @param {import("../composer/message_sender.js").MessageSender} page.sender
 * @param {() => string[]} page.offered  models
 * @param {() => import("../types.js").Agent|null} page.agent  of the open chat
 * @param {(limit?: number) => Promise<boolean>|undefined} page.readOlder
 * @param {(text: string) => void} page.announce
 * @param {() => import("./compression.js").CompressionStatus} page.compression
 */
export function messageActions({ turn, stopper, sender, offered, agent, readOlder, announce, compression }) {
  return {
    select: (/** @type {string} */ id) => turn.select(id),
    edit: (/** @type {Message} */ message, /** @type {string} */ text, /** @type {boolean} */ isWaiting) =>
      isWaiting ? turn.change(message, text) : turn.edit(message, text),
    peek: (/** @type {string} */ id) => turn.peek(id),
    editAnswer: (/** @type {string} */ answer, /** @type {string} */ text) => turn.editAnswer(answer, text),
    regenerate: (
      /** @type {Message} */ message,
      /** @type {string|undefined} */ model,
      /** @type {boolean} */ isInColumns,
    ) => turn.regenerate(message, model, isInColumns),
    bringUp: (/** @type {string} */ id) => turn.bringUp(id),
    remove: (/** @type {string} */ id) => turn.remove(id),
    fork: (/** @type {string} */ id) => turn.fork(id),
    models: offered,
    agent,
    readRun: api.readRun,
    readToolOutput: (/** @type {string} */ message, /** @type {string} */ call) => turn.readToolOutput(message, call),
    giveFeedback: (/** @type {string} */ message, /** @type {any} */ feedback) => turn.giveFeedback(message, feedback),
    stopRun: (/** @type {string} */ run) => stopper.stop(run),
    goOn: (/** @type {string} */ run) => turn.goOn(run),
    withdraw: (/** @type {Message} */ question) => sender.withdraw(question),
    readOlder,
    announce,
    deleteSummary: () => compression().deleteSummary(),
    rewriteSummary: () => compression().rewriteSummary(),
  };
}
