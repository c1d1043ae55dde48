/** The loaded part of the user's sessions, newest first, and how updates change it. Pure. */

/** @import {Session} from "../types.js" */

/**
 * @typedef {object} Pages
 * @property {Session[]} sessions  newest first
 * @property {string|null} next  where older ones are read; null: there are none
 */

/** @type {Pages} */
export const NOTHING = { sessions: [], next: null };

/** @param {Pages} pages @param {{results: Session[], next: string|null}} older */
export function withOlder(pages, older) {
  const known = new Set(pages.sessions.map(({ id }) => id));
  return { sessions: [...pages.sessions, ...older.results.filter(({ id }) => !known.has(id))], next: older.next };
}

/**
 * Applies an update of a session. An outdated one changes nothing; a session that belongs below the loaded
 * part is left out until that part is read.
 * @param {Pages} pages
 * @param {Session} update
 * @returns {Pages}
 */
export function withUpdate(pages, update) {
  const before = pages.sessions.find(({ id }) => id === update.id);
  if (before && (before.n ?? 0) > (update.n ?? 0)) return pages;
  const session = { ...before, ...update };
  const others = pages.sessions.filter(({ id }) => id !== update.id);
  const found = others.findIndex((other) => isNewer(session, other));
  const at = found === -1 ? others.length : found;
  const isBelow = at === others.length && pages.next !== null;
  return { ...pages, sessions: isBelow ? others : [...others.slice(0, at), session, ...others.slice(at)] };
}

/** @param {Pages} pages @param {string} id @returns {Pages} */
export function without(pages, id) {
  return { ...pages, sessions: pages.sessions.filter((session) => session.id !== id) };
}

/** @param {Session} one @param {Session} other */
function isNewer(one, other) {
  return one.updated_at === other.updated_at ? one.id > other.id : one.updated_at > other.updated_at;
}
