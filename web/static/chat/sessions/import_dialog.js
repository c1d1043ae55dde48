/** Imports a chat with its files, or the chats of another product: a dialog shows how much is sent, and cancels. */

import { dialog, open } from "../elements/dialogs.js";
import { h } from "../elements/element.js";
import { t, tn } from "../i18n.js";
import { importArchive, importForeign } from "../server/shares_api.js";

/** @import {Session} from "../types.js" */
/** @import {ForeignImport} from "../server/shares_api.js" */

/** @param {File} file @returns {Promise<Session|null>} the new chat; null: cancelled */
export const importWithProgress = (file) => sendWithProgress(file, importArchive, t("Its files are being stored …"));

/**
 * Imports the chats of another product's export, in as many requests as it takes, and shows what came of it.
 * @param {File} file
 */
export async function importFromElsewhere(file) {
  let added = 0;
  /** @type {ForeignImport|null} */
  let answer = null;
  /** @type {ForeignImport["remarks"]} */
  const remarks = [];
  do {
    answer = await sendWithProgress(file, importForeign, t("Its chats are being stored …"));
    const fresh = answer?.imported.filter((one) => one.is_new).length ?? 0;
    added += fresh;
    remarks.push(...(answer?.remarks ?? []));
    if (!fresh) break;
  } while (answer && !answer.is_complete);
  if (answer) showOutcome(added, { ...answer, remarks });
}

/** @param {number} added @param {ForeignImport} answer  the last one, with the remarks of all */
function showOutcome(added, { imported, refused, remarks }) {
  const there = imported.length - Math.min(added, imported.length);
  open(
    dialog(
      t("Import a chat"),
      { class: "question" },
      h("p", { role: "status" }, tn("%(count)s chat was imported.", "%(count)s chats were imported.", added)),
      there ? h("p", {}, tn("%(count)s was there already.", "%(count)s were there already.", there)) : "",
      ...listed(refused, t("Not imported: %(count)s", { count: String(refused.length) }), t("Not imported")),
      ...listed(remarks, t("Imported with something missing: %(count)s", { count: String(remarks.length) }), t("Imported with something missing")),
    ),
  );
}

/** @param {ForeignImport["refused"]} entries @param {string} heading @param {string} label @returns {HTMLElement[]} */
function listed(entries, heading, label) {
  if (!entries.length) return [];
  const lines = entries.map((one) =>
    h("li", {}, h("strong", { dir: "auto" }, one.title || t("Untitled chat")), " ", one.message, h("br"), h("small", {}, placeOf(one))),
  );
  return [h("p", {}, heading), h("ul", { class: "refused-imports", tabIndex: 0, "aria-label": label }, ...lines)];
}

/** Where in the file, or in which file of the zip. @param {ForeignImport["refused"][number]} refused */
function placeOf({ file, line, field }) {
  const place = { file, line: String(line), field: field || "–" };
  return file ? t("%(file)s, line %(line)s, %(field)s", place) : t("Line %(line)s, %(field)s", place);
}

/**
 * @template T
 * @param {File} file
 * @param {(file: File, progressed: (share: number) => void) => {done: Promise<T>, abort: () => void}} send
 * @param {string} storing  shown when all is sent
 * @returns {Promise<T|null>} the answer; null: cancelled
 */
async function sendWithProgress(file, send, storing) {
  const bar = h("progress", { max: 1, value: 0, "aria-label": t("Sent") });
  const status = h("p", { role: "status" }, t("Sending %(name)s …", { name: file.name }));
  const { done, abort } = send(file, (share) => {
    bar.value = share;
    if (share === 1) status.textContent = storing;
  });
  const cancel = h("button", { type: "button", onclick: () => shown.close() }, t("Cancel"));
  const shown = open(dialog(t("Import a chat"), { class: "question", closed: abort, isKept: true }, status, bar, h("div", { class: "row" }, cancel)));
  try {
    return await done;
  } catch (error) {
    if (error.code === "aborted") return null;
    throw error;
  } finally {
    shown.close();
  }
}
