/** The questions queued below an answer that is still being written. */

import { isLive } from "../state/session_state.js";
import { h } from "../elements/element.js";
import { t } from "../i18n.js";
import { icon } from "../elements/icons.js";

/** @import {Message, SessionState} from "../types.js" */

/** @param {SessionState} state @returns {Set<string>} ids of questions, and of the answers that wait with them */
export function waiting(state) {
  const branch = state.branch ?? [];
  const first = branch.findIndex((message) => isLive(state, message));
  const ids = new Set();
  // Also below one that was stopped while it waited: its end does not end the wait.
  branch.slice(first === -1 ? branch.length : first + 1).forEach((message, i, below) => {
    const answer = below[i + 1];
    if (message.role !== "user" || (answer && !isLive(state, answer))) return;
    ids.add(message.id);
    if (answer) ids.add(answer.id);
  });
  return ids;
}

/**
 * The newest question that waits.
 * @param {SessionState} state @returns {Message|undefined}
 */
export function newestWaiting(state) {
  const ids = waiting(state);
  return state.branch?.findLast(({ id, role }) => role === "user" && ids.has(id));
}

/** Marks the queued questions, each with buttons to edit and to withdraw it. */
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
