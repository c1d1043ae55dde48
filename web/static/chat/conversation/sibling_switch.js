/** `‹ 2/3 ›`: switches between the siblings of a message. */

import { assign, h } from "../elements/element.js";
import { t } from "../i18n.js";
import { icon } from "../elements/icons.js";

export class SiblingSwitch {
  /** @param {(id: string) => void} select */
  constructor(select) {
    this.select = select;
    this.before = this.#button("chevronLeft", t("Previous version"), -1);
    this.place = h("span", { class: "place" });
    this.after = this.#button("chevronRight", t("Next version"), 1);
    this.element = h(
      "span",
      { class: "siblings", role: "group", "aria-label": t("Versions") },
      this.before,
      this.place,
      this.after,
    );
    /** @type {string[]} */
    this.ids = [];
    this.at = 0;
  }

  /** @param {import("../types.js").Message} message @param {string[]} [versions] ids, oldest first */
  show(message, versions = message.siblings ?? [message.id]) {
    this.ids = versions;
    this.at = Math.max(0, this.ids.indexOf(message.id));
    assign(this.element, { hidden: this.ids.length < 2 });
    assign(this.place, { textContent: `${this.at + 1}/${this.ids.length}` });
    assign(this.before, { disabled: this.at === 0 });
    assign(this.after, { disabled: this.at === this.ids.length - 1 });
  }

  /** @param {import("../elements/icons.js").IconName} name @param {string} label @param {number} step */
  #button(name, label, step) {
    return h(
      "button",
      { type: "button", class: "icon-button", "aria-label": label, title: label, onclick: () => this.#go(step) },
      icon(name),
    );
  }

  /** @param {number} step */
  #go(step) {
    const id = this.ids[this.at + step];
    if (id) this.select(id);
  }
}
