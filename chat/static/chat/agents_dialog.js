/** The reader's agents: make, change, delete. */

import { dialog, open } from "./dialogs.js";
import { t } from "./i18n.js";

/** @param {(error: any) => void} failed */
export function openAgents(failed) {
  void failed;
  open(dialog(t("Agents"), { class: "large" }));
}
