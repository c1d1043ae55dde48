/** Marks the queued questions, with a button to withdraw the newest. */

import { h } from "../elements/element.js";
import { t } from "../i18n.js";
import { icon } from "../elements/icons.js";
import { waiting, withdrawable } from "./queue.js";

/** @import {Message, SessionState} from "../types.js" */

export class QueueView {
  /** @param {(question: Message) => void} withdraw */
  constructor(withdraw) {
    /** @type {Message|null} */
    this.question = null;
    /** @type {Map<string, HTMLElement>} */
    this.notes = new Map();
    this.cancel = h("button", { type: "button", class: "quiet", onclick: () => withdraw(this.question) }, t("Cancel"));
  }

  /** @param {SessionState} state @param {(id: string) => HTMLElement|undefined} elementOf a message's element */
  show(state, elementOf) {
    const ids = waiting(state);
    const gone = [...this.notes.keys()].filter((id) => !ids.has(id));
    gone.forEach((id) => this.#remove(id));
    this.question = withdrawable(state)?.question ?? null;
    for (const message of state.branch ?? []) {
      elementOf(message.id)?.classList.toggle("waiting", ids.has(message.id));
      if (message.role === "user" && ids.has(message.id)) this.#note(message, elementOf(message.id));
    }
  }

  /** @param {Message} question @param {HTMLElement} element */
  #note(question, element) {
    let note = this.notes.get(question.id);
    if (!note) {
      note = h("p", { class: "queued" }, icon("clock"), t("Waits for the answer above"));
      this.notes.set(question.id, note);
    }
    if (element && note.parentElement !== element) element.append(note);
    if (question.id === this.question?.id && !note.contains(this.cancel)) note.append(this.cancel);
  }

  /** @param {string} id */
  #remove(id) {
    this.notes.get(id)?.remove();
    this.notes.delete(id);
  }
}
