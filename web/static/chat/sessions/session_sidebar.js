/** Connects the parts of the session list: store, rows, search and the seen marker. */

import { SeenMarker } from "../frame/seen_marker.js";
import { SessionList } from "./session_list.js";
import { SessionSearch } from "./session_search.js";
import { SessionStore } from "./session_store.js";
import { changeSession } from "../server/sessions_api.js";

/** @import {Session, SessionState} from "../types.js" */

export class SessionSidebar {
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
    /** Of every list of sessions. */
    this.rowActions = {
      items: (/** @type {Session} */ session) => page.actions.items(session),
      rename: (/** @type {Session} */ session, /** @type {string} */ title) => this.change(session, { title }),
      remove: (/** @type {Session} */ session) => page.actions.remove(session),
    };
    this.list = new SessionList(parts.nav, this.store, this.rowActions);
    /** The last one that was opened. @type {import("./archive_dialog.js").ArchiveDialog|null} */
    this.archive = null;
    /** @type {import("./trash_dialog.js").TrashDialog|null} */
    this.trash = null;
    this.search = new SessionSearch(parts, this.store, () => this.list.focus());
    this.seen = new SeenMarker({ session: () => this.open, state: page.state });
  }

  /** The open session, if it is loaded. */
  get open() {
    return this.store.get(this.page.state()?.session ?? null);
  }

  /** Called when another session is opened. */
  opened() {
    this.#changed();
    this.store.learn(this.page.state()?.session ?? null);
  }

  /** Called when the socket is (re)connected. @param {import("../server/socket.js").Socket} socket */
  watch(socket) {
    // The list is read after the reply, so that nothing is missed in between.
    socket.send({ type: "watch_sessions" });
  }

  /** One object from the socket. @param {any} frame */
  receive(frame) {
    // The open session's own events also change the list.
    if (frame.type === "session") this.store.assume(frame.session, { while_answering: frame.while_answering, agent: frame.agent, project: frame.project, models: frame.models, knowledge_bases: frame.knowledge_bases });
    this.store.receive(frame);
    this.archive?.receive(frame);
    this.trash?.receive(frame);
    if (frame.type === "session_deleted") this.page.gone(frame.session);
  }

  #changed() {
    this.list.show(this.page.state()?.session ?? null);
    this.seen.check();
    this.page.changed();
  }

  /** Shows a change at once, and takes it back if it is refused. @param {Session} session @param {Partial<Session>} fields */
  async change(session, fields) {
    this.store.assume(session.id, fields);
    const isKept = await this.page.attempt(() => changeSession(session.id, fields));
    const before = Object.keys(fields).map((name) => [name, session[/** @type {keyof Session} */ (name)]]);
    if (!isKept) this.store.assume(session.id, Object.fromEntries(before));
  }

  /** Opens the dialog of archived chats. */
  async openArchive() {
    const { ArchiveDialog } = await import("./archive_dialog.js");
    this.archive = new ArchiveDialog(this.rowActions, { open: this.page.state()?.session ?? null, failed: this.page.failed });
  }

  /** Opens the dialog of deleted chats. */
  async openTrash() {
    const { TrashDialog } = await import("./trash_dialog.js");
    this.trash = new TrashDialog(this.page.failed, () => this.store.refresh());
  }
}
