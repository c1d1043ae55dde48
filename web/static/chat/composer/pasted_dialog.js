/** The dialog that shows a long pasted text, and puts it elsewhere: into the field, or among the files. */

import { dialog, open } from "../elements/dialogs.js";
import { h } from "../elements/element.js";
import { t } from "../i18n.js";

/** @param {string} heading @param {string} text @param {{unfold: () => void, attach: () => void}} actions */
export function openPasted(heading, text, { unfold, attach }) {
  const button = (/** @type {string} */ label, /** @type {() => void} */ action) => {
    const onclick = () => {
      element.close();
      action();
    };
    return h("button", { type: "button", onclick }, label);
  };
  const body = h(
    "pre",
    { class: "file-text", tabIndex: 0, role: "region", dir: "auto", "aria-label": t("Text") },
    text,
  );
  const row = h(
    "div",
    { class: "row" },
    button(t("Put it into the field"), unfold),
    button(t("Attach it as a file"), attach),
  );
  const element = dialog(heading, { class: "large" }, body, row);
  open(element);
}
