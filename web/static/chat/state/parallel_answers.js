/** Reads the other models' answers of a turn, which are shown side by side. */

import * as api from "../server/api.js";

/** @import {Message} from "../types.js" */

/**
 * Siblings are oldest first and a turn creates its answers together, so the answers of a turn are neighbours.
 * @param {string} session
 * @param {Message|undefined} tip
 * @returns {Promise<Message[]>} without the tip itself; by model_index
 */
export async function readParallelAnswers(session, tip) {
  const siblings = tip?.siblings ?? [];
  if (!tip?.run || siblings.length < 2) return [];
  const { turn } = await api.readRun(tip.run);
  const at = siblings.indexOf(tip.id);
  const before = await whileOfTurn(session, siblings.slice(0, at).reverse(), turn);
  const after = await whileOfTurn(session, siblings.slice(at + 1), turn);
  return [...before.reverse(), ...after];
}

/** @param {string} session @param {string[]} ids @param {string} turn */
async function whileOfTurn(session, ids, turn) {
  const mates = [];
  for (const id of ids) {
    const message = await api.readMessage(session, id);
    const run = message?.run && (await api.readRun(message.run));
    if (!run || run.turn !== turn) break;
    mates.push(message);
  }
  return mates;
}
