/** What the reader can choose: theme, language, keys; tokens; what was used. */

import { dialog, open } from "./dialogs.js";
import { t } from "./i18n.js";

/** @param {(error: any) => void} failed */
export function openSettings(failed) {
  void failed;
  open(dialog(t("Settings"), { class: "large" }));
}
