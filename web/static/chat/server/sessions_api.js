/** REST calls of sessions for the session list and the composer. */

import { call, callForPage, readSessions } from "./api.js";

/** @import {Session, WhileAnswering} from "../types.js" */

/** The server's largest page. */
export const LARGEST_PAGE = 200;

/**
 * @param {{limit: number, search?: string, project?: string, tag?: string, pinned?: boolean, archived?: boolean}} wanted
 *   project, tag: only sessions that have it; pinned: only those that are, or are not; archived: only the archive
 * @returns {Promise<{results: Session[], next: string|null}>} the newest
 */
export function readNewest({ limit, search, project, tag, pinned, archived }) {
  const wanted = {
    limit,
    search,
    project,
    tag,
    pinned: pinned === undefined ? "" : Number(pinned),
    archived: archived ? 1 : "",
  };
  const given = Object.entries(wanted).filter(([, value]) => value !== undefined && value !== "");
  return call("GET", `sessions/?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`);
}

/** @param {string} project empty: of all @param {string} [tag] empty: with and without @returns {Promise<Session[]>} all that are pinned, newest first */
export async function readPinned(project, tag = "") {
  let page = await readNewest({ limit: LARGEST_PAGE, project, tag, pinned: true });
  const all = [...page.results];
  while (page.next) {
    page = await readOlder(page.next);
    all.push(...page.results);
  }
  return all;
}

/** @param {number} limit @returns {Promise<{results: (Session & {deleted_at: string, purge_at: string, is_part: boolean})[], next: string|null}>} the latest deleted */
export const readTrash = (limit) => call("GET", `trash/?limit=${limit}`);

/** @param {string} id of a deleted one @returns {Promise<Session>} */
export const restoreSession = (id) => call("POST", `trash/${id}/restoration/`);

/** All of them, or none. @param {string[]} ids @param {"archive"|"unarchive"|"delete"|"restore"} action */
export const changeSessions = (ids, action) => call("POST", "sessions/bulk/", { ids, action });

/** @param {string} id @param {string} message an answer @returns {Promise<Session>} a new one with the branch up to it */
export const forkSession = (id, message) => call("POST", `sessions/${id}/fork/`, { message });

/** Deletes one for good, unless it holds something: another tab may have begun it meanwhile. @param {string} id */
export const discardSession = (id) => call("DELETE", `sessions/${id}/?if_empty=1`);

/** @param {string} next @returns {Promise<{results: Session[], next: string|null}>} */
export const readOlder = (next) => readSessions(next);

/** @param {NewSessionBody} fields @returns {Promise<Session>} */
export const createSession = (fields) => call("POST", "sessions/", fields);

/** @param {string} id @param {SessionChangesBody} fields @returns {Promise<SessionAnswer>} */
export const changeSession = (id, fields) => call("PATCH", `sessions/${id}/`, fields);

/** @param {string} id @param {number} n the newest event that was shown */
export const markSeen = (id, n) => call("PUT", `sessions/${id}/seen/`, { n });

/** @param {string} question a queued one @returns {Promise<Session>} */
export const withdraw = (question) => call("POST", `messages/${question}/withdrawal/`);

/** @param {string} answer @param {string} text @returns {Promise<import("../types.js").Message>} a sibling of the answer, where the branch then ends */
export const editAnswer = (answer, text) => call("POST", `messages/${answer}/edits/`, { text });

/** @param {string} question a queued one @param {string} text @returns {Promise<import("../types.js").Message>} */
export const changeQuestion = (question, text) => call("PATCH", `messages/${question}/`, { text });

/** With all below it. @param {string} message @returns {Promise<{part: string|null}>} part: the session in the trash that restores it */
export const deleteMessage = (message) => call("DELETE", `messages/${message}/`);

/** @param {string} path of a list in pages that begin behind a row @returns {Promise<any[]>} */
export async function readAllPages(path) {
  const rows = [];
  for (let page = /** @type {string|null} */ (`${path}?limit=${LARGEST_PAGE}`); page;) {
    const { answer, next } = await callForPage("GET", page);
    rows.push(...answer);
    page = next;
  }
  return rows;
}
