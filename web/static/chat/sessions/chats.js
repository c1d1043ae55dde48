/** The list of chats beside the conversation: its store, its rows, its search and what has been seen, wired. */

import { Seen } from "../frame/seen.js";
import { SessionList } from "./session_list.js";
import { SessionSearch } from "./session_search.js";
import { SessionStore } from "./session_store.js";
import { changeSession } from "../server/sessions_api.js";

/** @import {Session, SessionState} from "../types.js" */

export class Chats {
  /**
   * @param {{nav: HTMLElement, field: HTMLInputElement, status: HTMLElement}} parts
   * @param {object} page
   * @param {() => SessionState|null} page.state  of the open chat
   * @param {import("./session_actions.js").SessionActions} page.actions
   * @param {(action: () => Promise<any>) => Promise<boolean>} page.attempt
   * @param {() => void} page.changed
   * @param {(id: string) => void} page.gone  deleted, here or elsewhere
   * @param {(error: Error) => void} page.failed
   */
  constructor(parts, page) {
    this.page = page;
    this.store = new SessionStore({ changed: () => this.#changed(), failed: page.failed });
    this.list = new SessionList(parts.nav, this.store, {
      items: (session) => page.actions.items(session),
      rename: (session, title) => this.#rename(session, title),
      remove: (session) => page.actions.remove(session),
    });
    this.search = new SessionSearch(parts, this.store, () => this.list.focus());
    this.seen = new Seen({ session: () => this.open, state: page.state });
  }

  /** The open one, as far as it is known. */
  get open() {
    return this.store.get(this.page.state()?.session ?? null);
  }

  /** Another chat was opened. */
  opened() {
    this.#changed();
    this.store.learn(this.page.state()?.session ?? null);
  }

  /** The socket is connected (again). @param {import("../server/socket.js").Socket} socket */
  watch(socket) {
    // The answer to it has the list read: nothing falls between the two.
    socket.send({ type: "watch_sessions" });
  }

  /** One object from the socket. @param {any} frame */
  receive(frame) {
    // Of the open chat the socket tells more than the list needs.
    if (frame.type === "session") this.store.assume(frame.session, { while_answering: frame.while_answering, agent: frame.agent });
    this.store.receive(frame);
    if (frame.type === "session_deleted") this.page.gone(frame.session);
  }

  #changed() {
    this.list.show(this.page.state()?.session ?? null);
    this.seen.check();
    this.page.changed();
  }

  /** @param {Session} session @param {string} title */
  async #rename(session, title) {
    this.store.assume(session.id, { title });
    const isKept = await this.page.attempt(() => changeSession(session.id, { title }));
    if (!isKept) this.store.assume(session.id, { title: session.title });
  }
}
