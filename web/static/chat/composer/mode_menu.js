/** The menu beside Send with the chat's while_answering mode, shown while an answer is being written. */

import { t } from "../i18n.js";
import { attachMenu } from "../elements/menu.js";

/** @import {WhileAnswering} from "../types.js" */

export class ModeMenu {
  /** @param {HTMLButtonElement} button @param {(mode: WhileAnswering) => void} choose */
  constructor(button, choose) {
    this.button = button;
    this.choose = choose;
    /** @type {WhileAnswering} */
    this.mode = "enqueue";
    button.title = button.getAttribute("aria-label") ?? "";
    attachMenu(button, () => this.#items());
  }

  /** @param {WhileAnswering} mode @param {boolean} isAnswering */
  show(mode, isAnswering) {
    this.mode = mode;
    // The button of an open menu stays, so that the focus can return to it.
    this.button.hidden = !isAnswering && this.button.getAttribute("aria-expanded") !== "true";
  }

  /** @returns {import("../elements/menu.js").MenuItem[]} */
  #items() {
    const item = (/** @type {WhileAnswering} */ mode, /** @type {string} */ label, /** @type {string} */ hint) => ({
      label,
      hint,
      checked: mode === this.mode,
      action: () => this.choose(mode),
    });
    return [
      item("enqueue", t("Wait in line"), t("Sent at once, answered when the answer above has ended")),
      item("interrupt", t("Interrupt"), t("Stops the answer above; what it said is kept")),
      item("reject", t("Hold back"), t("Nothing is sent while an answer is written")),
    ];
  }
}
