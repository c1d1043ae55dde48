/** What is said of a file: what it is, how it gets on, what is wrong with it. */

import { byteText } from "../answer/api_error_texts.js";
import { apiErrorText } from "../answer/status_texts.js";
import { whole } from "../elements/formats.js";
import { language, t, tn } from "../i18n.js";

/** @import {FileEntry, FileProblem} from "./file_entry.js" */
/** @import {FileKind} from "../types.js" */

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
export function unreadText(pages, shown = 0) {
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
