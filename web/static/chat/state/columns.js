/** The answers to a question that stand side by side: the one the conversation goes on from, and one of each other column. Pure. */

/** @import {Message, SessionState} from "../types.js" */

/** @param {Message} message */
export const placeOf = ({ parent, column }) => `${parent} ${column}`;

/**
 * The answers that stand beside a message of the branch, itself included, by column; the message alone if nothing does.
 * @param {Pick<SessionState, "peeked">} state @param {Message} message @returns {Message[]}
 */
export function columnsOf({ peeked }, message) {
  if (!message.alongside) return [message];
  const others = message.alongside.map((newest) => {
    const earlier = peeked[placeOf(newest)];
    return earlier && newest.attempts?.includes(earlier.id) ? earlier : newest;
  });
  return [message, ...others].sort((one, other) => (one.column ?? 0) - (other.column ?? 0));
}

/** All messages on the screen. @param {SessionState} state @returns {Message[]} */
export const shownMessages = (state) => (state.branch ?? []).flatMap((message) => columnsOf(state, message));

/**
 * Between which messages the switch of a message goes. Beside the answer the conversation goes on from: the attempts in
 * the column. Otherwise all that could stand there: not what stands in the columns beside it.
 * @param {Message} message @param {boolean} isAside @returns {string[]} ids, oldest first
 */
export function versionsOf({ id, siblings = [id], attempts = [id], alongside = [] }, isAside) {
  if (isAside) return attempts;
  const beside = new Set(alongside.flatMap((other) => other.attempts ?? [other.id]));
  return siblings.filter((sibling) => !beside.has(sibling));
}
