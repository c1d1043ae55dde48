/**
 * The current branch: its pages, which are read from its end, merged with the known messages; and the answers that
 * stand side by side in it. Pure.
 */

/** @import {Message, SessionState} from "../types.js" */

/** @typedef {{branch: Message[], hasOlder: boolean}} Known  hasOlder: the server has messages above the first */

/** How many messages one read asks for. */
export const PAGE = 50;

/**
 * The newest page of the branch as it is now, below what was known above it.
 * @param {Pick<SessionState, "branch"|"hasOlder">} state
 * @param {Message[]} page
 * @param {boolean} isWhole nothing stands above the page
 * @returns {Known}
 */
export function withNewest({ branch, hasOlder }, page, isWhole) {
  const above = isWhole ? [] : aboveOf(branch ?? [], page);
  if (above.length === 0) return { branch: page, hasOlder: !isWhole };
  return { branch: [...above, ...page], hasOlder };
}

/**
 * The page that was read above `first`; null: the branch begins elsewhere by now.
 * @param {Pick<SessionState, "branch">} state
 * @param {string} first
 * @param {Message[]} page
 * @param {number} limit how many were asked for
 * @returns {Known|null}
 */
export function withOlder({ branch }, first, page, limit) {
  if (branch?.[0]?.id !== first) return null;
  return { branch: [...page, ...branch], hasOlder: page.length >= limit };
}

/** The messages of the current branch below the root, as the tree tells. @param {import("../types.js").TreeNode[]} nodes */
export function currentBranch(nodes) {
  /** @type {Map<string|null|undefined, import("../types.js").TreeNode>} */
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const branch = [];
  const root = nodes.find(({ role }) => role === "root");
  for (let here = byId.get(root?.latest_child); here; here = byId.get(here.latest_child)) branch.push(here);
  return branch;
}

/** Whether a message stands on the current branch, as the tree tells. @param {import("../types.js").TreeNode[]} nodes @param {string} id */
export const isOnCurrentBranch = (nodes, id) => currentBranch(nodes).some((node) => node.id === id);

/** Whether a page hangs on a known message, as one of the branch the reader is on does. @param {Message[]} branch @param {Message[]} page */
export function isConnected(branch, page) {
  return aboveOf(branch, page).length > 0 || branch[0]?.id === page[0]?.id;
}

/** @param {Message[]} branch @param {Message[]} page @returns {Message[]} */
function aboveOf(branch, page) {
  const at = branch.findIndex(({ id }) => id === page[0]?.parent);
  return branch.slice(0, at + 1);
}

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
