/** Imports a chat with its files: a dialog shows how much is sent, and cancels. */

import { dialog, open } from "../elements/dialogs.js";
import { h } from "../elements/element.js";
import { t } from "../i18n.js";
import { importArchive } from "../server/shares_api.js";

/** @import {Session} from "../types.js" */

/** @param {File} file @returns {Promise<Session|null>} the new chat; null: cancelled */
export async function importWithProgress(file) {
  const bar = h("progress", { max: 1, value: 0, "aria-label": t("Sent") });
  const status = h("p", { role: "status" }, t("Sending %(name)s …", { name: file.name }));
  const { done, abort } = importArchive(file, (share) => {
    bar.value = share;
    if (share === 1) status.textContent = t("Its files are being stored …");
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
