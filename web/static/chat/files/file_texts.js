/** What is said of a file: what it is, how it gets on, what is wrong with it. */

import { byteText } from "../answer/api_error_texts.js";
import { apiErrorText } from "../answer/status_texts.js";
import { whole } from "../elements/durations.js";
import { language, t, tn } from "../i18n.js";
import { FILE_ERRORS } from "./file_error_texts.js";

/** @import {FileEntry, FileProblem} from "./file_entry.js" */
/** @import {FileKind} from "../types.js" */

const LONGEST_EXTENSION = 5;
const PERCENT = new Intl.NumberFormat(language, { style: "percent" });

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
