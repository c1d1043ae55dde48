/**
 * Stores the user's sessions: reads them page by page, searches them, and applies the updates that the socket pushes.
 * Draws nothing.
 */

import * as api from "../server/api.js";
import { RepeatedRead } from "../server/list_store.js";

/** @import {Session} from "../types.js" */

/** @typedef {wire.SessionChanged|wire.SessionDeleted|wire.TagChanged} Update */

const PAGE = 50;

export class SessionStore {
  /**
   * @param {{changed: () => void, failed: (error: Error) => void}} listener
   * @param {{project?: string, isArchive?: boolean}} [kept] project: its sessions alone; isArchive: the archived ones alone
   */
  constructor(listener, { project = "", isArchive = false } = {}) {
    this.listener = listener;
    this.project = project;
    this.isArchive = isArchive;
    /** @type {Pages} */
    this.pages = NOTHING;
    /** All that are pinned, which are not in `pages`; the archive does not tell them apart. @type {Pages} */
    this.pinned = NOTHING;
    /** What a search found; null: nothing is searched. @type {Pages|null} */
    this.found = null;
    this.searched = "";
    /** The tag that all of them have; empty: whatever they have. */
    this.tag = "";
    /** Sessions opened by their URL that are not in the loaded part. @type {Map<string, Session>} */
    this.others = new Map();
    this.beginnings = new Beginnings();
    /** Updates received during a read: they may be newer than its result. @type {Update[]} */
    this.updatesWhileReading = [];
    this.reading = new RepeatedRead(() => this.#read());
    this.isExtending = false;
  }

  /** The sessions that the list shows; the pinned ones among what a search found are in its order. @returns {Pages & {pinned: Session[]}} */
  get shown() {
    const { sessions, next } = this.found ?? this.pages;
    const pinned = this.found ? [] : this.pinned.sessions;
    return {
      pinned: pinned.map((one) => this.#withName(one)),
      sessions: sessions.map((one) => this.#withName(one)),
      next,
    };
  }

  /** @param {string|null} id @returns {Session|undefined} */
  get(id) {
    const session = this.#stored(id);
    return session && this.#withName(session);
  }

  /** What waits for its user, as far as it is loaded; what is archived was put aside. @returns {Session[]} */
  get waiting() {
    const known = new Map(this.#known.map((one) => [one.id, one]));
    return [...known.values()].filter(
      ({ is_waiting: isWaiting, is_archived: isArchived, is_temporary: isTemporary }) =>
        isWaiting && !isArchived && !isTemporary,
    );
  }

  /** Whether `pages` was read, so that it is empty only if there are none. */
  get hasRead() {
    return this.pages !== NOTHING;
  }

  /** Reads the loaded part again; once more if called meanwhile. */
  async refresh() {
    const hasRead = await this.reading.ask();
    if (hasRead && this.found) this.search(this.searched);
  }

  /** Reads the next page of what is shown. */
  async extend() {
    const { next } = this.found ?? this.pages;
    if (next === null || this.isExtending) return;
    this.isExtending = true;
    const page = await this.#attempt(() => api.readOlder(next));
    this.isExtending = false;
    // Another search may be shown by now, of which no more was read meanwhile.
    const isOther = (this.found ?? this.pages).next !== next;
    if (!page && !isOther) return;
    if (page && !isOther) {
      if (this.found) this.found = withOlder(this.found, page);
      else this.pages = withOlder(this.pages, page);
    }
    this.listener.changed();
  }

  /** @param {string} text empty: show all again */
  async search(text) {
    this.searched = text;
    const page = text ? await this.#attempt(() => api.readNewest({ limit: PAGE, search: text, tag: this.tag })) : null;
    if (this.searched !== text) return; // a newer search has started
    this.found = page && { sessions: page.results, next: page.next };
    this.listener.changed();
  }

  /** Shows only sessions with this tag. @param {string} tag empty: all again @returns {Promise<void>} */
  filter(tag) {
    if (this.tag === tag) return Promise.resolve();
    this.tag = tag;
    this.#keepOthers();
    this.pages = this.pinned = NOTHING;
    return this.refresh();
  }

  /** Reads an open session that is not loaded whole; a failure is reported by LiveSession. @param {string|null} id */
  async learn(id) {
    if (id === null || this.get(id)?.has_options !== undefined) return;
    const session = await api.readSession(id).catch(() => /** @type {any} */ (null));
    if (!session) return;
    if (!this.get(id)) this.others.set(id, session);
    this.#put(session);
    this.listener.changed();
  }

  /** One object from the socket. @param {wire.Frame} frame */
  receive(frame) {
    if (frame.type === "sessions_watched" || frame.type === "sessions_resync") this.refresh();
    if (frame.type === "project_deleted") this.#forgetProject(frame.project);
    if (frame.type !== "session_changed" && frame.type !== "session_deleted" && frame.type !== "tag_changed") return;
    if (this.reading.isReading) this.updatesWhileReading.push(frame);
    this.#fold(frame);
    this.listener.changed();
  }

  /** Adds a session created on this page. @param {Session} session @param {string} beginning its name until it has a title */
  add(session, beginning) {
    // A temporary one leaves nothing in the browser.
    if (session.is_temporary) this.others.set(session.id, session);
    else this.beginnings.set(session.id, beginning);
    this.#put(session);
    this.listener.changed();
  }

  /** Applies a change before the server confirms it. @param {string} id @param {Partial<Session>} fields */
  assume(id, fields) {
    const session = this.get(id);
    if (session) this.#put({ ...session, ...fields });
    this.listener.changed();
  }

  /** @param {string} id */
  remove(id) {
    this.pages = without(this.pages, id);
    this.pinned = without(this.pinned, id);
    this.found = this.found && without(this.found, id);
    this.others.delete(id);
    this.listener.changed();
  }

  async #read() {
    this.updatesWhileReading = [];
    const limit = Math.min(Math.max(this.pages.sessions.length, PAGE), api.LARGEST_PAGE);
    const read = await this.#attempt(() => this.#readParts(limit));
    if (!read) return;
    const [page, pinned] = read;
    this.pages = { sessions: page.results, next: page.next };
    this.pinned = { sessions: pinned, next: null };
    this.updatesWhileReading.forEach((frame) => this.#fold(frame));
    this.listener.changed();
  }

  /** @param {number} limit */
  #readParts(limit) {
    const { project, tag } = this;
    /** @type {Session[]} */
    const none = [];
    if (this.isArchive) return Promise.all([api.readNewest({ limit, archived: true }), none]);
    return Promise.all([api.readNewest({ limit, project, tag, pinned: false }), api.readPinned(project, tag)]);
  }

  /** @param {Update} frame */
  #fold(frame) {
    if (frame.type === "session_deleted") return this.remove(frame.session);
    if (frame.type === "tag_changed") return this.#changeTag(frame.tag, frame.name);
    const { type: _type, session: id, ...fields } = frame;
    if (this.project && fields.project !== this.project) this.remove(id);
    else this.#put({ ...fields, id });
  }

  /** Its sessions go on without it; no event tells it of each. @param {string} project */
  #forgetProject(project) {
    for (const session of this.#known) if (session.project === project) this.#put({ ...session, project: null });
    this.listener.changed();
  }

  /** @param {string} tag @param {string|null} name null: it was removed */
  #changeTag(tag, name) {
    if (this.tag && isSameTag(this.tag, tag)) void this.filter(name ?? "");
    for (const session of this.#known)
      if (session.tags && hasTag(session.tags, tag))
        this.#put({ ...session, tags: replaceTag(session.tags, tag, name) });
    this.listener.changed();
  }

  get #known() {
    return [...this.others.values(), ...(this.found?.sessions ?? []), ...this.pages.sessions, ...this.pinned.sessions];
  }

  /** The open one may be among those that are not shown any more. */
  #keepOthers() {
    for (const session of [...this.pages.sessions, ...this.pinned.sessions]) this.others.set(session.id, session);
  }

  /** An outdated update changes nothing. @param {Session} update */
  #put(update) {
    const before = this.#stored(update.id);
    if (before && (before.n ?? 0) > (update.n ?? 0)) return;
    const session = { ...before, ...update };
    const isShown =
      Boolean(session.is_archived) === this.isArchive &&
      !session.is_temporary &&
      (!this.tag || hasTag(session.tags, this.tag));
    const isPinned = Boolean(session.is_pinned) && !this.isArchive;
    this.pages = isShown && !isPinned ? withUpdate(this.pages, session) : without(this.pages, session.id);
    this.pinned = isShown && isPinned ? withUpdate(this.pinned, session) : without(this.pinned, session.id);
    // What has left the list may be the open one.
    const isListed = [...this.pages.sessions, ...this.pinned.sessions].some(({ id }) => id === session.id);
    if (this.others.has(session.id) || (before && !isListed)) this.others.set(session.id, session);
    // Search results keep their order.
    const inPlace = (/** @type {Session} */ one) => (one.id === session.id ? { ...one, ...update } : one);
    this.found = this.found && { ...this.found, sessions: this.found.sessions.map(inPlace) };
  }

  /** @param {string|null} id @returns {Session|undefined} */
  #stored(id) {
    const isIt = (/** @type {Session} */ one) => one.id === id;
    return this.pages.sessions.find(isIt) ?? this.pinned.sessions.find(isIt) ?? this.others.get(id ?? "");
  }

  /** @param {Session} session */
  #withName(session) {
    return session.title ? session : { ...session, title: this.beginnings.get(session.id) };
  }

  /** @template T @param {() => Promise<T>} read @returns {Promise<T|null>} */
  async #attempt(read) {
    try {
      return await read();
    } catch (error) {
      this.listener.failed(error);
      return null;
    }
  }
}

// How chats that were begun in this tab are called until they have a title. They survive a reload, not the tab.
const STORAGE_KEY = "turnwire.beginnings";
/** A title comes with the first answer: older ones have theirs. */
const MOST = 50;

class Beginnings {
  constructor() {
    /** id → text, the oldest first. @type {Map<string, string>} */
    this.texts = new Map(stored());
  }

  /** @param {string} session @returns {string} empty: it was begun elsewhere */
  get(session) {
    return this.texts.get(session) ?? "";
  }

  /** @param {string} session @param {string} text */
  set(session, text) {
    this.texts.set(session, text);
    sessionStorage.setItem(STORAGE_KEY, JSON.stringify([...this.texts].slice(-MOST)));
  }
}

/** @returns {[string, string][]} */
function stored() {
  try {
    return JSON.parse(sessionStorage.getItem(STORAGE_KEY) ?? "[]");
  } catch {
    return [];
  }
}

// The loaded part of the user's sessions, newest first, and how updates change it. Pure.

/**
 * @typedef {object} Pages
 * @property {Session[]} sessions  newest first
 * @property {string|null} next  where older ones are read; null: there are none
 */

/** @type {Pages} */
export const NOTHING = { sessions: [], next: null };

/** @param {Pages} pages @param {{results: Session[], next: string|null}} older */
export function withOlder(pages, older) {
  const known = new Set(pages.sessions.map(({ id }) => id));
  return { sessions: [...pages.sessions, ...older.results.filter(({ id }) => !known.has(id))], next: older.next };
}

/**
 * Applies an update of a session. An outdated one changes nothing; a session that belongs below the loaded
 * part is left out until that part is read.
 * @param {Pages} pages
 * @param {Session} update
 * @returns {Pages}
 */
export function withUpdate(pages, update) {
  const before = pages.sessions.find(({ id }) => id === update.id);
  if (before && (before.n ?? 0) > (update.n ?? 0)) return pages;
  const session = { ...before, ...update };
  const others = pages.sessions.filter(({ id }) => id !== update.id);
  const found = others.findIndex((other) => isNewer(session, other));
  const at = found === -1 ? others.length : found;
  const isBelow = at === others.length && pages.next !== null;
  return { ...pages, sessions: isBelow ? others : [...others.slice(0, at), session, ...others.slice(at)] };
}

/** @param {Pages} pages @param {string} id @returns {Pages} */
export function without(pages, id) {
  return { ...pages, sessions: pages.sessions.filter((session) => session.id !== id) };
}

/** @param {Session} one @param {Session} other */
function isNewer(one, other) {
  return one.updated_at === other.updated_at ? one.id > other.id : one.updated_at > other.updated_at;
}

/** @param {string} one @param {string} other */
export const isSameTag = (one, other) => one.toLowerCase() === other.toLowerCase();

/** @param {string[]|undefined} tags @param {string} tag */
export const hasTag = (tags, tag) => Boolean(tags?.some((one) => isSameTag(one, tag)));

/** As the server renames it (`tag_changed`): a chat that has both keeps one. @param {string[]} tags @param {string} tag @param {string|null} name null: it is removed */
export function replaceTag(tags, tag, name) {
  if (!hasTag(tags, tag)) return tags;
  const others = tags.filter((one) => isSameTag(one, tag) || name === null || !isSameTag(one, name));
  return others.flatMap((one) => (!isSameTag(one, tag) ? [one] : name === null ? [] : [name]));
}
