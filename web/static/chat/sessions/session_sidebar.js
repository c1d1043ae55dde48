/** Connects the parts of the session list: store, rows, search and the seen marker. */

import { SessionList } from "./session_list.js";
import { SessionSelection } from "./session_selection.js";
import { SessionStore } from "./session_store.js";
import { TagFilter } from "../tags/tags.js";
import { hasTrash, mayDeleteAll } from "./deletion.js";
import { UndoNotice } from "../elements/notices.js";
import { h } from "../elements/element.js";
import { sessionAddress } from "../frame/address.js";
import { language, tn, t } from "../i18n.js";
import { changeSession, changeSessions, markSeen } from "../server/api.js";
import { isComposing } from "../elements/text_field.js";

/** @import {Session, SessionState} from "../types.js" */

export class SessionSidebar {
  /**
   * @param {{nav: HTMLElement, field: HTMLInputElement, status: HTMLElement, tag: HTMLSelectElement, waiting: HTMLElement}} parts
   * @param {object} page
   * @param {() => SessionState|null} page.state  of the open chat
   * @param {import("./session_actions.js").SessionActions} page.actions
   * @param {(action: () => Promise<any>) => Promise<boolean>} page.attempt
   * @param {() => void} page.changed
   * @param {(id: string, isForGood?: boolean) => void} page.gone  deleted, here or elsewhere; isForGood: the trash has it not, or no longer
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
    this.list.selection = new SessionSelection(this.list, (ids, action) => this.#changeAll(ids, action));
    /** The last one that was opened. @type {import("./archive_dialog.js").ArchiveDialog|null} */
    this.archive = null;
    /** @type {import("../trash/trash_dialog.js").TrashDialog|null} */
    this.trash = null;
    this.search = new SessionSearch(parts, this.store, () => this.list.focus());
    this.tags = new TagFilter(parts.tag, this.store, (text) => (parts.status.textContent = text));
    this.waiting = new WaitingChats(parts.waiting);
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

  /** One object from the socket. @param {wire.Frame} frame */
  receive(frame) {
    // The open session's own events also change the list.
    if (frame.type === "session") {
      // The list's own frames say how new a row is, and the state of the open session where its branch ends.
      const { type: _type, session, n: _n, leaf: _leaf, ...members } = frame;
      this.store.assume(session, members);
    }
    const isTemporary = frame.type === "session_deleted" && this.store.get(frame.session)?.is_temporary;
    this.store.receive(frame);
    this.tags.receive(frame);
    this.archive?.receive(frame);
    this.trash?.receive(frame);
    if (frame.type === "session_deleted") this.page.gone(frame.session, isTemporary || undefined);
  }

  #changed() {
    this.list.show(this.page.state()?.session ?? null);
    this.waiting.show(this.store.waiting);
    this.seen.check();
    this.page.changed();
  }

  /** Shows a change at once, and takes it back if it is refused. @param {Session} session @param {SessionChangesBody} fields @returns whether it was stored */
  async change(session, fields) {
    this.store.assume(session.id, fields);
    const isKept = await this.page.attempt(() => changeSession(session.id, fields));
    const before = Object.keys(fields).map((name) => [name, session[/** @type {keyof Session} */ (name)]]);
    if (!isKept) this.store.assume(session.id, Object.fromEntries(before));
    return isKept;
  }

  /** @param {string[]} ids @param {import("./session_selection.js").BulkAction} action */
  async #changeAll(ids, action) {
    const open = this.page.state()?.session ?? null;
    const isAllowed = action !== "delete" || (await mayDeleteAll(ids.length));
    if (!isAllowed || !(await this.page.attempt(() => changeSessions(ids, action)))) return;
    this.list.selection?.stop();
    for (const id of ids) {
      if (action === "archive") this.store.assume(id, { is_archived: true });
      else this.#forget(id);
    }
    if (action === "archive" && open && ids.includes(open)) location.hash = "";
    const text =
      action === "archive"
        ? tn("%(count)s chat was archived.", "%(count)s chats were archived.", ids.length)
        : tn("%(count)s chat was deleted.", "%(count)s chats were deleted.", ids.length);
    if (action !== "delete" || hasTrash()) new UndoNotice(text, () => this.#undo(ids, action, open));
  }

  /** @param {string} id */
  #forget(id) {
    this.store.remove(id);
    this.page.gone(id);
  }

  /** @param {string[]} ids @param {import("./session_selection.js").BulkAction} action @param {string|null} open then */
  async #undo(ids, action, open) {
    const back = action === "archive" ? "unarchive" : "restore";
    if (!(await this.page.attempt(() => changeSessions(ids, back)))) return;
    this.store.refresh();
    if (open && ids.includes(open)) location.hash = open;
  }

  /** Opens the dialog of archived chats. */
  async openArchive() {
    const { ArchiveDialog } = await import("./archive_dialog.js");
    this.archive = new ArchiveDialog(this.rowActions, {
      open: this.page.state()?.session ?? null,
      failed: this.page.failed,
    });
  }

  /** Opens the dialog of deleted chats. */
  async openTrash() {
    const { TrashDialog } = await import("../trash/trash_dialog.js");
    this.trash = new TrashDialog({
      failed: this.page.failed,
      changed: () => this.store.refresh(),
      purged: (id) => this.page.gone(id, true),
    });
  }
}

// The search field above the list; searches titles and messages.
const PAUSE_MS = 200;

class SessionSearch {
  /**
   * @param {{field: HTMLInputElement, status: HTMLElement}} parts status: a live region that announces the results
   * @param {import("./session_store.js").SessionStore} store
   * @param {() => void} toList
   */
  constructor({ field, status }, store, toList) {
    this.field = field;
    this.status = status;
    this.store = store;
    this.timer = 0;
    field.addEventListener("input", () => this.#onInput());
    field.addEventListener("keydown", (event) => this.#key(event, toList));
  }

  #onInput() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#search(), this.field.value.trim() ? PAUSE_MS : 0);
  }

  async #search() {
    await this.store.search(this.field.value.trim());
    const { found } = this.store;
    if (!found) this.status.textContent = "";
    else if (found.next)
      this.status.textContent = t("More than %(count)s chats found", {
        count: found.sessions.length.toLocaleString(language),
      });
    else this.status.textContent = tn("%(count)s chat found", "%(count)s chats found", found.sessions.length);
  }

  /** @param {KeyboardEvent} event @param {() => void} toList */
  #key(event, toList) {
    if (isComposing(event)) return;
    if (event.key === "ArrowDown") {
      event.preventDefault();
      toList();
    }
    if (event.key === "Escape" && this.field.value) {
      event.stopPropagation(); // it would close the drawer
      this.field.value = "";
      this.#onInput();
    }
  }
}

/** Marks the open session as seen on the server when its new answer is shown in a visible tab. */
class SeenMarker {
  /** @param {{session: () => Session|undefined, state: () => SessionState|null}} page what is open */
  constructor(page) {
    this.page = page;
    /** The session and event sent last, so that each is sent once. */
    this.lastSent = "";
    document.addEventListener("visibilitychange", () => this.check());
  }

  /** Called whenever something may have changed; cheap. */
  check() {
    const session = this.page.session();
    const n = this.page.state()?.n ?? null;
    if (!session?.is_unread || n === null || document.visibilityState !== "visible") return;
    // The event that makes the session unread is not shown here yet.
    if (n < (session.n ?? 0)) return;
    const state = `${session.id} ${n}`;
    if (this.lastSent === state) return;
    this.lastSent = state;
    // After a failure the session stays unread until the next answer or visit.
    markSeen(session.id, n).catch(() => (this.lastSent = ""));
  }
}

/** How many chats wait for their user, as a link above their list, which leads to one of them. */
class WaitingChats {
  /** @param {HTMLElement} element a live region */
  constructor(element) {
    this.element = element;
    this.link = h("a", {});
    /** How many there are. */
    this.count = 0;
  }

  /** @param {Session[]} waiting */
  show(waiting) {
    if (waiting.length > 0) this.link.href = sessionAddress(waiting[0].id);
    if (waiting.length === this.count) return;
    this.count = waiting.length;
    this.link.textContent = tn("%(count)s chat waits for you", "%(count)s chats wait for you", this.count);
    this.element.replaceChildren(...(this.count > 0 ? [this.link] : []));
  }
}
