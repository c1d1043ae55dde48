/**
 * A file as a list of files shows it, an upload of this page or a file that the server has, and what is said of it:
 * what it is, how it gets on, what is wrong with it. Pure.
 */

import { byteText } from "../answer/api_error_texts.js";
import { apiErrorText } from "../answer/status_texts.js";
import { whole } from "../elements/formats.js";
import { language, t, tn } from "../i18n.js";

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
const isTemporary = ({ status = 400 }) => status === 0 || status === 408 || status === 429 || status >= 500;

/** @param {FileEntry[]} entries @param {string[]} models @returns {{name: string, model: string}|null} the first that a model cannot read whole */
export function firstUnfit(entries, models) {
  for (const { name, fits } of entries) {
    const model = models.find((one) => fits[one] === false);
    if (model) return { name, model };
  }
  return null;
}

const LONGEST_EXTENSION = 5;
const PERCENT = new Intl.NumberFormat(language, { style: "percent" });

/** What is wrong with files whose text could not be extracted, and what to do. @type {Record<string, () => string>} */
export const FILE_ERRORS = {
  file_type_unsupported: () => t("Files of this type cannot be read. Attach another kind of file."),
  file_missing: () => t("The content of this file is gone. Upload it again."),
  content_missing: () => t("This file was imported without its content. Upload it again."),
  file_unreadable: () => t("This file could not be read. Try another one."),
  document_corrupt: () => t("This document is damaged, or is not what its name says. Try another one."),
  document_encrypted: () => t("This document is protected by a password. Save it without one, and attach it again."),
  document_limits: () => t("This document is too large to be read. Attach a part of it."),
  document_unsafe: () => t("This document contains XML that is not accepted. Save it anew, and attach it again."),
  archive_limits: () => t("This file unpacks to too much. Attach a part of it."),
  archive_unsafe: () => t("This file holds names that lead outside of it. Save it anew, and attach it again."),
  image_corrupt: () => t("This picture is damaged. Try another one."),
  image_limits: () => t("This picture has too many pixels. Make it smaller, and attach it again."),
  storage_full: () => t("There is no room for the text of this file. Delete some chats or files for good first."),
  too_many_chunks: () => t("There is no room for more texts that are searched. Delete some documents first."),
  url_scheme_blocked: () => t("Only addresses that begin with http:// or https:// are read. Give another one."),
  url_address_blocked: () => t("This address is not read: it does not lead to a public server. Give another one."),
  url_unreachable: () => t("The server of this address does not answer. Check the address, or try again later."),
  too_many_redirects: () => t("This address leads to others too often. Give the one where it ends."),
  response_too_large: () => t("What this address leads to is too large. Upload a part of it as a file."),
  content_type_unsupported: () => t("What this address leads to is not a text. Download it, and upload the file."),
  http_error: () => t("The server of this address answered with an error. Check the address."),
  timeout: () => t("The server of this address took too long. Try again later."),
  tls_error: () => t("The connection to the server of this address is not secure. Give another address."),
};

/** @param {FileProblem} error */
export const fileErrorText = (error) => FILE_ERRORS[error.code ?? ""]?.() ?? apiErrorText(error);

/** @param {number} tokens */
export const tokenText = (tokens) => tn("%(count)s token", "%(count)s tokens", tokens);

/** Its extension, or else what it is. @param {{name: string, kind: FileKind}} file */
export function kindText({ name, kind }) {
  const extension = name.match(/[^.]\.(\w+)$/)?.[1] ?? "";
  if (extension && extension.length <= LONGEST_EXTENSION) return extension.toUpperCase();
  return { image: t("Image"), tabular: t("Table"), text: t("Text") }[kind];
}

/** The line below the name. @param {FileEntry} entry */
export function stateText(entry) {
  if (entry.state === "waiting") return t("waiting…");
  if (entry.state === "uploading")
    return t("uploading %(percent)s", { percent: PERCENT.format(Math.floor(entry.progress * 100) / 100) });
  if (entry.state === "processing") return t("reading…");
  if (entry.state === "failed") return fileErrorText(entry.error ?? {});
  // An image counts by its size, which depends on the model.
  const size = entry.tokens > 0 ? tokenText(entry.tokens) : entry.size > 0 && byteText(entry.size);
  return [
    kindText(entry),
    size,
    rowsText(entry.shownRows, entry.tableRows),
    unreadText(entry.unreadPages, entry.shownPages),
  ]
    .filter(Boolean)
    .join(" · ");
}

/** Of tables that are shown in part; empty: there are none. @param {number} shown @param {number} rows */
export const rowsText = (shown, rows) =>
  rows > 0 ? t("first %(shown)s of %(rows)s rows", { shown: whole(shown), rows: whole(rows) }) : "";

/** Of scans that nobody has recognised; empty: there are none. @param {number} pages @param {number} [shown] of them, to models that see */
function unreadText(pages, shown = 0) {
  if (pages === 0) return "";
  if (shown === 0) return tn("%(count)s page is a picture: not read", "%(count)s pages are pictures: not read", pages);
  const text = tn(
    "%(count)s page is a picture: only for models that see",
    "%(count)s pages are pictures: only for models that see",
    pages,
  );
  return shown < pages ? `${text} (${t("the first %(count)s", { count: shown })})` : text;
}

/** What a screen reader hears when a file has come that far; empty: nothing. @param {FileEntry} entry */
export function announcement(entry) {
  const { name, state } = entry;
  if (state === "ready") return t("%(name)s is ready", { name });
  return state === "failed" ? t("%(name)s: %(problem)s", { name, problem: stateText(entry) }) : "";
}
