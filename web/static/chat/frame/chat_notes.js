/**
 * What the page says of a chat above it: that it is temporary, or that nobody but the demo, or nobody at all, can
 * answer.
 */

import { deleteSession } from "../server/api.js";

/** @import {Session, Model} from "../types.js" */

/**
 * Temporary chats: the switch on the page of a new chat, the note above an open one, and what happens when it is left.
 * Leaving it within the page deletes it. Reloading looks like closing the tab from here, so neither does: the server
 * deletes a temporary chat that no page has shown for a while.
 */
export class TemporaryChat {
  /**
   * @param {{choice: HTMLElement|null, note: HTMLElement}} parts choice: with the switch; null: there are no temporary chats
   * @param {(session: Session) => void} keep
   */
  constructor({ choice, note }, keep) {
    /** Whether the next new chat is to be temporary. */
    this.isChosen = false;
    this.note = note;
    this.toggle = choice?.querySelector("button") ?? null;
    this.hint = choice?.querySelector("p") ?? null;
    /** @type {Session|undefined} */
    this.session = undefined;
    this.toggle?.addEventListener("click", () => this.#choose(!this.isChosen));
    note.querySelector("button").addEventListener("click", () => this.session && keep(this.session));
  }

  /** @param {boolean} isNew the page of a new chat is shown @param {Session|undefined} session the open one, once it is known */
  show(isNew, session) {
    if (!isNew) this.#choose(false);
    this.session = session;
    this.note.hidden = !session?.is_temporary;
  }

  /** Called when another page is shown in its place. @param {Session|undefined} session */
  left(session) {
    // What fails is done by the server later.
    if (session?.is_temporary) deleteSession(session.id).catch(() => {});
  }

  /** @param {boolean} isChosen */
  #choose(isChosen) {
    if (!this.toggle || this.isChosen === isChosen) return;
    this.isChosen = isChosen;
    this.toggle.setAttribute("aria-pressed", String(isChosen));
    this.hint.hidden = !isChosen;
  }
}

/** @param {Model[]} models those offered */
export function showModelNotices(models) {
  /** @type {HTMLElement} */ (document.getElementById("demo-notice")).hidden = !models.some(
    (model) => model.is_default && model.is_demo,
  );
  /** @type {HTMLElement} */ (document.getElementById("no-models")).hidden = models.length > 0;
}
