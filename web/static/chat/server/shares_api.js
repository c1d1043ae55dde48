/** REST calls of public links and of the import of chats. */

import { call } from "./api.js";
import { upload } from "./upload.js";

/** @typedef {ShareAnswer} Share */

/** @param {string} session @returns {Promise<Share[]>} open links, newest first */
export const readShares = (session) => call("GET", `sessions/${session}/shares/`);

/** @param {string} session @param {ShareBody} fields @returns {Promise<Share>} */
export const createShare = (session, fields) => call("POST", `sessions/${session}/shares/`, fields);

/** @param {string} share @param {ShareBody} fields @returns {Promise<Share>} */
export const changeShare = (share, fields) => call("PATCH", `shares/${share}/`, fields);

/** @param {string} share */
export const revokeShare = (share) => call("DELETE", `shares/${share}/`);

/** The server stores the files before it answers. */
const LONGEST_IMPORT_MS = 300_000;

/** @param {string} path @param {string} contentType */
const importing =
  (path, contentType) => /** @param {File} file @param {(share: number) => void} progressed */ (file, progressed) =>
    upload(path, file, { contentType, longestSilenceMs: LONGEST_IMPORT_MS, progressed });

/** @typedef {{done: Promise<import("../types.js").Session>, abort: () => void}} Import  as upload() */

/** @type {(file: File, progressed: (share: number) => void) => Import} */
export const importFile = importing("sessions/import/", "application/json");

/** @type {(archive: File, progressed: (share: number) => void) => Import} */
export const importArchive = importing("sessions/import/", "application/zip");

/** @typedef {ForeignImportAnswer} ForeignImport */

/** @type {(file: File, progressed: (share: number) => void) => {done: Promise<ForeignImport>, abort: () => void}} file: JSON of another product, or its zip */
export const importForeign = importing("sessions/import/foreign/", "application/octet-stream");

/** Reads without a login. @param {string} link its token @param {number} page @returns {Promise<any>} */
export const readSharedPage = (link, page) => call("GET", `shared/${link}/?page=${page}`);
