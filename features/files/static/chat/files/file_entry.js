/** A file as a list of files shows it: an upload of this page, or a file that the server has. Pure. */

/** @import {AttachedFile, FileInfo, FileKind} from "../types.js" */

/**
 * @typedef {{code?: string, message?: string, status?: number, max?: number}} FileProblem
 *
 * @typedef {object} FileEntry  replaced, not changed
 * @property {string} key  its id, or of an upload a name that only this page knows
 * @property {string} id  empty until the server has the file
 * @property {string} name
 * @property {FileKind} kind  what it looks like, until the server says what it is
 * @property {number} size  bytes; 0: unknown
 * @property {"waiting"|"uploading"|"processing"|"ready"|"failed"} state
 * @property {number} progress  share of its bytes that were sent
 * @property {number} tokens
 * @property {number} unreadPages  those that are pictures without text
 * @property {number} shownPages  of these, those that models that see are shown
 * @property {number} tableRows  of tables that are shown in part
 * @property {number} shownRows  of these, those that the text has
 * @property {Record<string, boolean>} fits  by model, once it is ready
 * @property {FileProblem|null} error
 * @property {boolean} canRetry  the upload may be tried again
 * @property {string} picture  data URL of a small picture that the page made; empty: none
 * @property {boolean} hasThumbnail  the server has one
 * @property {boolean} isSent  a message may have it
 */

/** @type {Omit<FileEntry, "key"|"name">} */
const NEW = {
  id: "",
  kind: "text",
  size: 0,
  state: "waiting",
  progress: 0,
  tokens: 0,
  unreadPages: 0,
  shownPages: 0,
  tableRows: 0,
  shownRows: 0,
  fits: {},
  error: null,
  canRetry: false,
  picture: "",
  hasThumbnail: false,
  isSent: false,
};

/** @param {string} key @param {File} file @returns {FileEntry} */
export function entryOfUpload(key, file) {
  return { ...NEW, key, name: file.name, size: file.size, kind: file.type.startsWith("image/") ? "image" : "text" };
}

/** @param {AttachedFile} file of a message @returns {FileEntry} */
export function entryOfAttached(file) {
  return {
    ...NEW,
    key: file.id,
    id: file.id,
    name: file.name,
    kind: file.kind,
    state: "ready",
    tokens: file.token_count,
    tableRows: file.table_rows ?? 0,
    shownRows: file.shown_rows ?? 0,
    hasThumbnail: file.has_thumbnail ?? false,
    isSent: true,
  };
}

/** @param {{id: string, name: string, size?: number, kind?: FileKind, isSent?: boolean}} known of a file that is to be read @returns {FileEntry} */
export function entryOfKnown({ id, name, size = 0, kind = "text", isSent = false }) {
  return { ...NEW, key: id, id, name, size, kind, isSent, state: "processing", progress: 1 };
}

/** @param {FileInfo} info @param {FileEntry} [before] @returns {FileEntry} */
export function entryOfInfo(info, before) {
  const {
    id,
    name,
    kind,
    size,
    status,
    token_count: tokens,
    unread_pages: unreadPages = 0,
    shown_pages: shownPages = 0,
    table_rows: tableRows = 0,
    shown_rows: shownRows = 0,
    fits = {},
    error = null,
    has_thumbnail: hasThumbnail = false,
  } = info;
  return {
    ...NEW,
    ...before,
    key: before?.key ?? id,
    id,
    name,
    kind,
    size,
    state: status,
    progress: 1,
    tokens,
    unreadPages,
    shownPages,
    tableRows,
    shownRows,
    fits,
    error,
    hasThumbnail,
    canRetry: false,
  };
}

/** @param {FileEntry} entry @param {FileProblem} error @returns {FileEntry} */
export function failedEntry(entry, error) {
  return { ...entry, state: "failed", error, canRetry: isTemporary(error) };
}

/** Whether the same request may succeed later. @param {FileProblem} error */
export const isTemporary = ({ status = 400 }) => status === 0 || status === 408 || status === 429 || status >= 500;

/** @param {FileEntry[]} entries @param {string[]} models @returns {{name: string, model: string}|null} the first that a model cannot read whole */
export function firstUnfit(entries, models) {
  for (const { name, fits } of entries) {
    const model = models.find((one) => fits[one] === false);
    if (model) return { name, model };
  }
  return null;
}
