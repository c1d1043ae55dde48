/** REST calls of the import of chats. */

import { upload } from "./upload.js";

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
