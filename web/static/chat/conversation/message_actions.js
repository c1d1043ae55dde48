/** What can be done with the messages on the page: the actions of UserMessage, AnswerView and QueueView. */

import { readRun } from "../server/api.js";

/** @import {Message} from "../types.js" */

/**
 * @param {object} page
 * @param {import("./turn_actions.js").TurnActions} page.turn
 * @param {import("../composer/run_stopper.js").RunStopper} page.stopper
 * @param {import("../composer/message_sender.js").MessageSender} page.sender
 * @param {() => string[]} page.offered  models
 * @param {() => import("../types.js").Agent|null} page.agent  of the open chat
 * @param {(limit?: number) => Promise<boolean>|undefined} page.readOlder
 * @param {(text: string) => void} page.announce
 * @param {() => import("../frame/compression_status.js").CompressionStatus} page.compression
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
    readRun,
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
