/**
 * Unsent drafts by session, stored in the browser and shared by its tabs. Without storage
 * (private windows, a full quota) drafts last as long as the page.
 */

import { EMPTY, isEmpty } from "./pasted_texts.js";

/** @import {Draft} from "./pasted_texts.js" */

const MAX_DRAFTS = 50;

/** A question that returns to the composer. @param {import("../types.js").Message} question @returns {Draft} */
export const draftOf = ({ text, files = [] }) => ({
  text,
  pasted: [],
  files: files.map(({ id, name, kind }) => ({ id, name, kind, size: 0, isSent: true })),
});

export class Drafts {
  /**
   * @param {Storage} storage
   * @param {string} user whose drafts: several people may use one browser
   * @param {() => number} now ms
   * @param {{storage: Storage, holds: (session: string) => boolean}|null} tab holds: whether the draft of a session ends with the tab
   */
  constructor(storage, user, now = Date.now, tab = null) {
    this.storage = storage;
    this.tab = tab;
    this.prefix = `turnwire.draft.${user}.`;
    this.now = now;
  }

  /** @param {string|null} session null: the next new chat @returns {Draft} */
  read(session) {
    const key = this.#key(session);
    return this.#readStored(key) ?? (this.tab && this.#readStored(key, this.tab.storage)) ?? EMPTY;
  }

  /** Stores a draft; deletes an empty one. @param {string|null} session @param {Draft} draft */
  write(session, draft) {
    const key = this.#key(session);
    try {
      if (isEmpty(draft)) return this.#remove(key);
      const storage = session && this.tab?.holds(session) ? this.tab.storage : this.storage;
      storage.setItem(key, JSON.stringify({ ...draft, at: this.now() }));
      this.#forgetOldest();
    } catch {
      // No space or no permission: the text is still in the field.
    }
  }

  /**
   * Calls `changed` when another tab changed a draft.
   * @param {(session: string|null) => void} changed
   */
  listen(changed) {
    addEventListener("storage", ({ key, storageArea }) => {
      if (storageArea !== this.storage || !key?.startsWith(this.prefix)) return;
      const session = key.slice(this.prefix.length);
      changed(session === "new" ? null : session);
    });
  }

  /** @param {string|null} session */
  #key(session) {
    return this.prefix + (session ?? "new");
  }

  /** @param {string} key */
  #remove(key) {
    this.storage.removeItem(key);
    this.tab?.storage.removeItem(key);
  }

  /** @param {string} key @param {Storage} storage @returns {(Draft & {at: number})|null} */
  #readStored(key, storage = this.storage) {
    try {
      // Drafts of earlier releases have no files.
      const { text, pasted, files = [], at } = JSON.parse(storage.getItem(key) ?? "null") ?? {};
      const isSound =
        typeof text === "string" &&
        areAll(pasted, (one) => typeof one === "string") &&
        areAll(files, (one) => typeof one?.id === "string");
      return isSound ? { text, pasted, files, at } : null;
    } catch {
      return null;
    }
  }

  #forgetOldest() {
    const keys = Array.from({ length: this.storage.length }, (_, i) => this.storage.key(i)).filter((key) =>
      key?.startsWith(this.prefix),
    );
    if (keys.length <= MAX_DRAFTS) return;
    const age = (/** @type {string} */ key) => this.#readStored(key)?.at ?? 0;
    keys.sort((one, other) => age(one) - age(other));
    keys.slice(0, keys.length - MAX_DRAFTS).forEach((key) => this.storage.removeItem(key));
  }
}

/** @param {any} list @param {(one: any) => boolean} isSound */
const areAll = (list, isSound) => Array.isArray(list) && list.every(isSound);
