/** Marks the queued questions, each with buttons to edit and to withdraw it. */

import { h } from "../elements/element.js";
import { t } from "../i18n.js";
import { icon } from "../elements/icons.js";
import { waiting } from "./queue.js";

/** @import {Message, SessionState} from "../types.js" */

export class QueueView {
  /** @param {{edit: (id: string) => void, withdraw: (question: Message) => void}} actions */
  constructor(actions) {
    this.actions = actions;
    /** @type {Map<string, HTMLElement>} */
    this.notes = new Map();
    /** As they are now: their texts may change while they wait. @type {Map<string, Message>} */
    this.questions = new Map();
  }

  /** @param {SessionState} state @param {(id: string) => HTMLElement|undefined} elementOf a message's element */
  show(state, elementOf) {
    const ids = waiting(state);
    const gone = [...this.notes.keys()].filter((id) => !ids.has(id));
    gone.forEach((id) => this.#remove(id));
    for (const message of state.branch ?? []) {
      elementOf(message.id)?.classList.toggle("waiting", ids.has(message.id));
      if (message.role === "user" && ids.has(message.id)) this.#note(message, elementOf(message.id));
    }
  }

  /** @param {Message} question @param {HTMLElement} element */
  #note(question, element) {
    this.questions.set(question.id, question);
    let note = this.notes.get(question.id);
    if (!note) {
      const edit = h(
        "button",
        { type: "button", class: "quiet", onclick: () => this.actions.edit(question.id) },
        t("Edit"),
      );
      const cancel = h(
        "button",
        {
          type: "button",
          class: "quiet",
          title: t("Take this question back"),
          onclick: () => this.actions.withdraw(this.questions.get(question.id)),
        },
        t("Cancel"),
      );
      note = h("p", { class: "queued" }, icon("clock"), h("span", {}, t("Waits for the answer above")), edit, cancel);
      this.notes.set(question.id, note);
    }
    if (element && note.parentElement !== element) element.append(note);
  }

  /** @param {string} id */
  #remove(id) {
    this.notes.get(id)?.remove();
    this.notes.delete(id);
    this.questions.delete(id);
  }
}
