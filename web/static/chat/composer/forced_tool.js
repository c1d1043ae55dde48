/** Picks a tool of the chat's agent that the next answer must start with. */

import { attachMenu } from "../elements/menu.js";
import { t } from "../i18n.js";
import { nameOf, singleTools } from "../tools/tool_cards.js";

export class ForcedTool {
  /** @param {HTMLButtonElement} button */
  constructor(button) {
    this.button = button;
    /** @type {string[]} */
    this.offered = [];
    /** @type {string|null} of one question; null: the model decides */
    this.chosen = null;
    attachMenu(button, () => this.#items());
    this.#show();
  }

  /** @param {string[]} tools those of the agent that answers next */
  offer(tools) {
    this.offered = singleTools(tools);
    if (this.chosen && !this.offered.includes(this.chosen)) this.chosen = null;
    this.#show();
  }

  /** @param {string|null} tool */
  choose(tool) {
    this.chosen = tool;
    this.#show();
  }

  #show() {
    const name = this.chosen ? nameOf(this.chosen) : t("the model decides");
    this.button.hidden = this.offered.length === 0;
    this.button.setAttribute("aria-pressed", String(this.chosen !== null));
    this.button.title = t("Tool for the next question: %(name)s", { name });
    this.button.setAttribute("aria-label", this.button.title);
  }

  /** @returns {import("../elements/menu.js").MenuItem[]} */
  #items() {
    const item = (/** @type {string|null} */ tool, /** @type {string} */ label) => ({
      label,
      checked: tool === this.chosen,
      action: () => this.choose(tool),
    });
    return [item(null, t("The model decides")), ...this.offered.map((tool) => item(tool, nameOf(tool)))];
  }
}
