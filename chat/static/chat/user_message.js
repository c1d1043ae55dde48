/** What the user said: exactly as typed, and editable in place. */

import { h } from "./element.js";
import { SiblingSwitch } from "./sibling_switch.js";

/** @import {Message} from "./types.js" */

export class UserMessage {
  /** @param {{select: (id: string) => void, edit: (message: Message, text: string) => Promise<boolean>}} actions */
  constructor(actions) {
    this.actions = actions;
    this.text = h("div", { class: "said" });
    this.switch = new SiblingSwitch(actions.select);
    this.editButton = h("button", { type: "button", class: "quiet", onclick: () => this.#edit() }, "Edit");
    this.footer = h("footer", {}, this.switch.element, this.editButton);
    this.element = h("article", { class: "message user", "aria-label": "You" }, this.text, this.footer);
  }

  /** @param {Message} message */
  update(message) {
    if (message === this.message) return;
    this.message = message;
    this.text.textContent = message.text;
    this.switch.show(message);
  }

  #edit() {
    const field = h("textarea", { value: this.message.text, rows: 3, "aria-label": "Edit your message" });
    const send = h("button", { type: "submit", class: "primary" }, "Send");
    const cancel = h("button", { type: "button", onclick: () => this.#done(form) }, "Cancel");
    const form = h("form", { class: "edit", onsubmit: (event) => this.#submit(event, form, field, send) }, field);
    form.append(h("div", { class: "row" }, cancel, send));
    form.addEventListener("keydown", (event) => event.key === "Escape" && this.#done(form));
    this.text.hidden = this.footer.hidden = true;
    this.element.append(form);
    this.element.classList.add("editing");
    field.focus();
  }

  async #submit(event, form, field, send) {
    event.preventDefault();
    send.disabled = true;
    const isSent = await this.actions.edit(this.message, field.value);
    if (isSent) this.#done(form);
    send.disabled = false;
  }

  #done(form) {
    form.remove();
    this.element.classList.remove("editing");
    this.text.hidden = this.footer.hidden = false;
    this.editButton.focus();
  }
}
