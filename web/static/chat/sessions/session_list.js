/** The view of the session list, grouped by last use; older sessions are loaded on scrolling. */

import { h, setChildren } from "../elements/element.js";
import { language, t } from "../i18n.js";
import { markDragged, onListKeys } from "./list_input.js";
import { SessionRow } from "./session_row.js";

/** @import {Session} from "../types.js" */
/** @import {MenuItem} from "../elements/menu.js" */

export { titleOf } from "./session_row.js";

/** The distance from the end at which the next page is loaded. */
const AHEAD = "300px";

/** @typedef {{kind: SessionGroup["kind"]|"pinned"|"all", month?: Date, sessions: Session[]}} ListGroup */

/**
 * @typedef {object} ListActions
 * @property {(session: Session) => MenuItem[]} items
 * @property {(session: Session, title: string) => void} rename
 * @property {(session: Session) => void} remove
 */

export class SessionList {
  /**
   * @param {HTMLElement} nav what scrolls
   * @param {import("./session_store.js").SessionStore} store
   * @param {ListActions} actions
   * @param {HTMLElement} [scroller] if another element scrolls
   * @param {string} [name] of a list without groups
   */
  constructor(nav, store, actions, scroller = nav, name = "") {
    this.store = store;
    this.name = name;
    this.actions = actions;
    /** @type {Map<string, SessionRow>} */
    this.rows = new Map();
    /** @type {Map<string, {heading: HTMLElement, list: HTMLElement, element: HTMLElement}>} */
    this.groups = new Map();
    /** The row that the Tab key focuses. @type {string|null} */
    this.tabStop = null;
    /** Of lists whose rows can be changed together. @type {import("./session_selection.js").SessionSelection|null} */
    this.selection = null;
    /** The ids of the rows, from the top. @type {string[]} */
    this.order = [];
    /** @type {string|null} */
    this.open = null;
    this.list = h("div", { class: "sessions" });
    this.empty = h("p", { class: "empty" });
    this.more = h("button", { type: "button", class: "quiet", onclick: () => store.extend() }, t("Show older chats"));
    nav.append(this.list, this.empty, this.more);
    markDragged(this.list);
    onListKeys(this.list, { rename: (id) => this.rename(id), remove: (id) => this.#remove(id) });
    this.list.addEventListener("focusin", (event) => this.#moveTabStop(event));
    this.list.addEventListener("dblclick", (event) => this.rename(idOf(event.target)));
    this.observer = new IntersectionObserver(([{ isIntersecting }]) => isIntersecting && store.extend(), {
      root: scroller,
      rootMargin: AHEAD,
    });
  }

  /** @param {string|null} open the id of the open session */
  show(open) {
    this.open = open;
    const { pinned, sessions: others, next } = this.store.shown;
    const sessions = [...pinned, ...others];
    const focused = this.list.contains(document.activeElement)
      ? /** @type {HTMLElement} */ (document.activeElement)
      : null;
    this.order = sessions.map(({ id }) => id);
    const ids = new Set(this.order);
    this.selection?.show(this.order);
    for (const id of this.rows.keys()) if (!ids.has(id)) this.rows.delete(id);
    this.#placeTabStop(open, sessions);
    /** @type {ListGroup[]} */
    const first = pinned.length > 0 ? [{ kind: "pinned", sessions: pinned }] : [];
    /** @type {ListGroup[]} */
    const alone = sessions.length > 0 ? [{ kind: "all", sessions }] : [];
    this.#draw(this.name ? alone : [...first, ...groupSessions(others, new Date())], open);
    // Moving an element in the document removes the focus from it.
    if (focused?.isConnected && document.activeElement !== focused) focused.focus();
    this.empty.textContent = this.#emptyText(sessions);
    this.#observeEnd(next !== null);
  }

  /** Draws it again as it is. */
  redraw() {
    this.show(this.open);
  }

  /** Edits the title in place. @param {string|null} id */
  rename(id) {
    this.rows.get(id)?.edit();
  }

  /** Focuses the list. */
  focus() {
    this.focusRow(this.tabStop);
  }

  /** @param {string|null} id */
  focusRow(id) {
    this.rows.get(id)?.link.focus();
  }

  /** @param {ListGroup[]} groups @param {string|null} open */
  #draw(groups, open) {
    const elements = groups.map((group) => {
      const name = this.name || nameOf(group);
      const shown = this.groups.get(name) ?? this.#newGroup(name);
      setChildren(
        shown.list,
        group.sessions.map((session) => this.#row(session, open)),
      );
      return shown.element;
    });
    setChildren(this.list, elements);
  }

  /** @param {Session} session @param {string|null} open */
  #row(session, open) {
    let row = this.rows.get(session.id);
    if (!row)
      this.rows.set(
        session.id,
        (row = new SessionRow({ items: (one) => this.#items(one), rename: this.actions.rename })),
      );
    row.update(session, {
      isOpen: session.id === open,
      isInArchive: this.store.isArchive,
      isPicked: this.selection?.isPicked(session.id) ?? null,
      searched: this.store.searched,
    });
    row.isTabStop = session.id === this.tabStop;
    row.element.dataset.id = session.id;
    return row.element;
  }

  /** Renaming happens in the row itself. @param {Session} session */
  #items(session) {
    const rename = { label: t("Rename"), icon: /** @type {const} */ ("edit"), action: () => this.rename(session.id) };
    const { selection } = this;
    const select =
      selection && !selection.isOn
        ? [{ label: t("Select"), icon: /** @type {const} */ ("check"), action: () => selection.start(session.id) }]
        : [];
    return [rename, ...select, ...this.actions.items(session).filter(({ label }) => label !== rename.label)];
  }

  /** @param {string} name */
  #newGroup(name) {
    const heading = h("h2", { hidden: Boolean(this.name) }, name);
    const list = h("ul", { "aria-label": name });
    const group = { heading, list, element: h("section", {}, heading, list) };
    this.groups.set(name, group);
    return group;
  }

  /** @param {string|null} open @param {Session[]} sessions */
  #placeTabStop(open, sessions) {
    const isThere = sessions.some(({ id }) => id === this.tabStop);
    const isOpenThere = sessions.some(({ id }) => id === open);
    if (!isThere) this.tabStop = isOpenThere ? open : (sessions[0]?.id ?? null);
  }

  /** @param {FocusEvent} event */
  #moveTabStop(event) {
    const id = idOf(event.target);
    if (!id || id === this.tabStop) return;
    const before = this.rows.get(this.tabStop);
    if (before) before.isTabStop = false;
    this.tabStop = id;
    const now = this.rows.get(id);
    if (now) now.isTabStop = true;
  }

  /** @param {Session[]} sessions */
  #emptyText(sessions) {
    if (sessions.length > 0) return "";
    if (this.name) return this.store.hasRead ? t("No chats yet") : "";
    if (this.store.tag && !this.store.found) return t("No chat has this tag.");
    return this.store.found ? t("No chat has this in its title or messages.") : "";
  }

  /** Observes the end again each time: an observer reports only changes. @param {boolean} hasMore */
  #observeEnd(hasMore) {
    this.more.hidden = !hasMore;
    this.observer.disconnect();
    if (hasMore) this.observer.observe(this.more);
  }

  /** @param {string} id */
  #remove(id) {
    const session = this.rows.get(id)?.session;
    if (session) this.actions.remove(session);
  }
}

/** @param {ListGroup} group */
function nameOf({ kind, month }) {
  if (kind === "pinned") return t("Pinned");
  if (kind === "today") return t("Today");
  if (kind === "yesterday") return t("Yesterday");
  if (kind === "week") return t("Previous 7 days");
  if (kind === "thirty_days") return t("Previous 30 days");
  return month.toLocaleDateString(language, { month: "long", year: "numeric" });
}

/** @param {EventTarget} target @returns {string|null} */
const idOf = (target) => /** @type {HTMLElement} */ (target).closest("li")?.dataset.id ?? null;

// Groups sessions by the time of their last use, in days of the user's time zone. Pure: `now` is passed in.

/**
 * @typedef {object} SessionGroup
 * @property {"today"|"yesterday"|"week"|"thirty_days"|"month"} kind
 * @property {Date} month  the first day of the month the group's newest session was used in
 * @property {Session[]} sessions
 */

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * @param {Session[]} sessions newest first
 * @param {Date} now in the user's time zone
 * @returns {SessionGroup[]} newest first, none empty
 */
export function groupSessions(sessions, now) {
  /** @type {SessionGroup[]} */
  const groups = [];
  for (const session of sessions) {
    const used = new Date(session.updated_at);
    const kind = kindOf(used, now);
    const latest = groups.at(-1);
    const isSame = latest?.kind === kind && (kind !== "month" || isSameMonth(latest.month, used));
    if (isSame) latest.sessions.push(session);
    else groups.push({ kind, month: new Date(used.getFullYear(), used.getMonth(), 1), sessions: [session] });
  }
  return groups;
}

/** @param {Date} used @param {Date} now @returns {SessionGroup["kind"]} */
function kindOf(used, now) {
  const days = daysBetween(used, now);
  if (days <= 0) return "today"; // also what a server whose clock is ahead calls tomorrow
  if (days === 1) return "yesterday";
  if (days <= 7) return "week";
  return days <= 30 ? "thirty_days" : "month";
}

/** Counts the midnights between two dates; rounded, because a day of a clock change has 23 or 25 hours. @param {Date} used @param {Date} now */
function daysBetween(used, now) {
  const midnight = (/** @type {Date} */ date) =>
    new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
  return Math.round((midnight(now) - midnight(used)) / DAY_MS);
}

/** @param {Date} one @param {Date} other */
function isSameMonth(one, other) {
  return one.getFullYear() === other.getFullYear() && one.getMonth() === other.getMonth();
}
