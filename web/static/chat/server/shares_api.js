/** The REST calls around links that share a chat, and its files. */

import { call } from "./api.js";

/**
 * @typedef {object} Share
 * @property {string} id
 * @property {string|null} url  below the site's address; null: it works, but cannot be told again
 * @property {boolean} is_current  it shows the chat up to where it is now
 * @property {boolean} shows_details
 * @property {string} created_at
 */

/** @param {string} session @returns {Promise<Share[]>} those that work, newest first */
export const readShares = (session) => call("GET", `sessions/${session}/shares/`);

/** @param {string} session @param {boolean} showsDetails @returns {Promise<Share>} */
export const createShare = (session, showsDetails) => call("POST", `sessions/${session}/shares/`, { shows_details: showsDetails });

/** @param {string} share @param {string} leaf @returns {Promise<Share>} */
export const updateShare = (share, leaf) => call("PATCH", `shares/${share}/`, { leaf });

/** @param {string} share */
export const revokeShare = (share) => call("DELETE", `shares/${share}/`);

/** @param {object} file @returns {Promise<import("../types.js").Session>} */
export const importFile = (file) => call("POST", "sessions/import/", file);
