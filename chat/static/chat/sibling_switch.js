/** `‹ 2/3 ›`: goes through the versions of one message. */

import { h } from "./element.js";

export class SiblingSwitch {
  /** @param {(id: string) => void} select */
  constructor(select) {
    this.select = select;
    this.before = h("button", { type: "button", class: "quiet", "aria-label": "Previous version", onclick: () => this.#go(-1) }, "‹");
    this.place = h("span", { class: "place" });
    this.after = h("button", { type: "button", class: "quiet", "aria-label": "Next version", onclick: () => this.#go(1) }, "›");
    this.element = h("span", { class: "siblings", role: "group", "aria-label": "Versions" }, this.before, this.place, this.after);
  }

  /** @param {import("./types.js").Message} message */
  show(message) {
    this.ids = message.siblings ?? [message.id];
    this.at = Math.max(0, this.ids.indexOf(message.id));
    this.element.hidden = this.ids.length < 2;
    this.place.textContent = `${this.at + 1}/${this.ids.length}`;
    this.before.disabled = this.at === 0;
    this.after.disabled = this.at === this.ids.length - 1;
  }

  #go(step) {
    const id = this.ids[this.at + step];
    if (id) this.select(id);
  }
}
