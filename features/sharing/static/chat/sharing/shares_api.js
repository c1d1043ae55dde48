/** REST calls of public links. */

import { call } from "../server/api.js";

/** @typedef {ShareAnswer} Share */

/** @param {string} session @returns {Promise<Share[]>} open links, newest first */
export const readShares = (session) => call("GET", `sessions/${session}/shares/`);

/** @param {string} session @param {ShareBody} fields @returns {Promise<Share>} */
export const createShare = (session, fields) => call("POST", `sessions/${session}/shares/`, fields);

/** @param {string} share @param {ShareBody} fields @returns {Promise<Share>} */
export const changeShare = (share, fields) => call("PATCH", `shares/${share}/`, fields);

/** @param {string} share */
export const revokeShare = (share) => call("DELETE", `shares/${share}/`);

/** Reads without a login. @param {string} link its token @param {number} page @returns {Promise<any>} */
export const readSharedPage = (link, page) => call("GET", `shared/${link}/?page=${page}`);
