/** The user's sessions, newest first, a page at a time. */

import * as api from "./api.js";
import { h } from "./element.js";

/** @import {Session} from "./types.js" */

const REFRESH_PAUSE_MS = 300;

/** @param {Session} session */
export const titleOf = (session) => session.title || "Untitled chat";

export class SessionList {
  /**
   * @param {HTMLElement} list
   * @param {HTMLButtonElement} more
   * @param {{changed: () => void, failed: (error: Error) => void}} listener
   */
  constructor(list, more, listener) {
    this.list = list;
    this.more = more;
    this.listener = listener;
    /** @type {Session[]} */
    this.sessions = [];
    this.next = null;
    this.isExtended = false;
    /** What chats begun on this page are called until they have a title: id → text. */
    this.beginnings = new Map();
    more.addEventListener("click", () => this.#extend());
  }

  /** @param {string|null} id */
  get(id) {
    return this.sessions.find((session) => session.id === id);
  }

  /** Read the newest page again; older pages already shown stay. */
  async refresh() {
    const page = await this.#read(null);
    if (!page) return;
    const newest = new Set(page.results.map(({ id }) => id));
    const older = this.isExtended ? this.sessions.filter(({ id }) => !newest.has(id)) : [];
    this.sessions = [...page.results, ...older];
    if (!this.isExtended) this.next = page.next;
    this.listener.changed();
  }

  refreshSoon() {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.refresh();
    }, REFRESH_PAUSE_MS);
  }

  /** @param {string} id @param {string} beginning */
  callUntilNamed(id, beginning) {
    this.beginnings.set(id, beginning);
  }

  remove(id) {
    this.sessions = this.sessions.filter((session) => session.id !== id);
    this.listener.changed();
  }

  /** @param {string|null} open the id of the open session */
  show(open) {
    const rows = this.sessions.map((session) => {
      const link = h("a", { href: `#${session.id}`, title: titleOf(session) }, titleOf(session));
      if (session.id === open) link.setAttribute("aria-current", "page");
      return h("li", {}, link);
    });
    this.list.replaceChildren(...rows);
    this.more.hidden = this.next === null;
  }

  async #extend() {
    const page = await this.#read(this.next);
    if (!page) return;
    const known = new Set(this.sessions.map(({ id }) => id));
    this.sessions = [...this.sessions, ...page.results.filter(({ id }) => !known.has(id))];
    this.next = page.next;
    this.isExtended = true;
    this.listener.changed();
  }

  /** @param {Session} session */
  #called(session) {
    return session.title ? session : { ...session, title: this.beginnings.get(session.id) ?? "" };
  }

  async #read(page) {
    try {
      const { results, next } = await api.readSessions(page);
      return { results: results.map((session) => this.#called(session)), next };
    } catch (error) {
      this.listener.failed(error);
      return null;
    }
  }
}
