/** The dialog that lists the keys of the page. */

import { dialog, open } from "../elements/dialogs.js";
import { h } from "../elements/element.js";
import { t } from "../i18n.js";
import { keyNames, shortcuts } from "./shortcuts.js";

export function openShortcuts() {
  const sections = shortcuts().map(({ place, keys }) =>
    h("section", {}, h("h3", {}, place), h("dl", {}, ...keys.map(row))),
  );
  open(dialog(t("Keyboard shortcuts"), { class: "shortcuts" }, ...sections));
}

/** @param {import("./shortcuts.js").Shortcut} shortcut */
function row({ keys, text }) {
  const names = keyNames(keys).flatMap((name, i) => [i > 0 && "+", h("kbd", {}, name)]);
  return h("div", {}, h("dt", {}, text), h("dd", {}, ...names));
}
