/** REST calls of public links and of the import of chats. */

import { call } from "./api.js";
import { upload } from "./upload.js";

/** @typedef {ShareAnswer} Share */

/** @param {string} session @returns {Promise<Share[]>} open links, newest first */
export const readShares = (session) => call("GET", `sessions/${session}/shares/`);

/** @param {string} session @param {boolean} showsDetails @returns {Promise<Share>} */
export const createShare = (session, showsDetails) => call("POST", `sessions/${session}/shares/`, { shows_details: showsDetails });

/** @param {string} share @param {string} leaf @returns {Promise<Share>} */
export const updateShare = (share, leaf) => call("PATCH", `shares/${share}/`, { leaf });

/** @param {string} share */
export const revokeShare = (share) => call("DELETE", `shares/${share}/`);

/** @param {object} file @returns {Promise<import("../types.js").Session>} */
export const importFile = (file) => call("POST", "sessions/import/", file);

/** The server stores the files before it answers. */
const LONGEST_IMPORT_MS = 300_000;

/** @param {File} archive @param {(share: number) => void} progressed @returns {{done: Promise<import("../types.js").Session>, abort: () => void}} as upload() */
export const importArchive = (archive, progressed) =>
  upload("sessions/import/", archive, { contentType: "application/zip", longestSilenceMs: LONGEST_IMPORT_MS, progressed });

/** @typedef {ForeignImportAnswer} ForeignImport */

/** @param {File} file  JSON of another product, or its zip @param {(share: number) => void} progressed @returns {{done: Promise<ForeignImport>, abort: () => void}} as upload() */
export const importForeign = (file, progressed) =>
  upload("sessions/import/foreign/", file, { contentType: "application/octet-stream", longestSilenceMs: LONGEST_IMPORT_MS, progressed });

/** Reads without a login. @param {string} link its token @param {number} page @returns {Promise<any>} */
export const readSharedPage = (link, page) => call("GET", `shared/${link}/?page=${page}`);
