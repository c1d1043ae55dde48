/**
 * Drafts of messages. The long pasted texts in one are shown beside the field while a message is written, and joined to
 * its text when it is sent.
 */

import { dialog, open } from "../elements/dialogs.js";
import { h } from "../elements/element.js";
import { language, t } from "../i18n.js";
import { icon, iconButton } from "../elements/icons.js";

/** @import {FileKind} from "../types.js" */

const MAX_DRAFTS = 50;

/** A question that returns to the composer. @param {import("../types.js").Message} question @returns {Draft} */
export const draftOf = ({ text, files = [] }) => ({
  text,
  pasted: [],
  files: files.map(({ id, name, kind }) => ({ id, name, kind, size: 0, isSent: true })),
});

/**
 * Unsent drafts by session, stored in the browser and shared by its tabs. Without storage (private windows, a full
 * quota) drafts last as long as the page.
 */
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

/**
 * @typedef {{id: string, name: string, size: number, kind: FileKind, isSent: boolean}} DraftFile  isSent: a message may have it
 * @typedef {{text: string, pasted: string[], files: DraftFile[]}} Draft  files: those that the server has
 */

// More than two screens: a longer text would make the field unreadable.
const LONG_CHARACTERS = 8_000;
const PREVIEW_CHARACTERS = 80;

/** @type {Readonly<Draft>} */
export const EMPTY = Object.freeze({ text: "", pasted: [], files: [] });

/** @param {string} text */
export const isLong = (text) => text.length > LONG_CHARACTERS;

/** @param {Pick<Draft, "text"|"pasted">} draft */
export const hasText = ({ text, pasted }) => Boolean(text.trim()) || pasted.some((one) => one.trim());

/** @param {Draft} draft */
export const isEmpty = (draft) => !hasText(draft) && draft.files.length === 0;

/** The text to send: the typed text, then the pasted ones, separated by empty lines. @param {Pick<Draft, "text"|"pasted">} draft */
export function fullText({ text, pasted }) {
  return pasted.length === 0 ? text : [text.trimEnd(), ...pasted].filter((one) => one.trim()).join("\n\n");
}

/** Joins two drafts, the older first. @param {Draft} older @param {Draft} newer @returns {Draft} */
export function joinDrafts(older, newer) {
  const text = [older.text, newer.text].filter((one) => one.trim()).join("\n\n");
  const files = [...older.files, ...newer.files].filter(
    ({ id }, at, all) => all.findIndex((one) => one.id === id) === at,
  );
  return { text, pasted: [...older.pasted, ...newer.pasted], files };
}

/** The beginning of a pasted text, in one line. @param {string} text */
export function preview(text) {
  const begin = text
    .slice(0, 4 * PREVIEW_CHARACTERS)
    .trim()
    .replace(/\s+/g, " ");
  return begin.length > PREVIEW_CHARACTERS ? `${begin.slice(0, PREVIEW_CHARACTERS)}…` : begin;
}

/** Shows long pasted texts as chips above the field, to preview, insert or remove. */
export class PastedView {
  /**
   * @param {HTMLElement} list
   * @param {{changed: () => void, unfold: (text: string) => void, attach: (text: string) => void}} listener
   */
  constructor(list, listener) {
    this.list = list;
    this.listener = listener;
    /** @type {string[]} */
    this.texts = [];
  }

  /** @param {string} text */
  add(text) {
    this.show([...this.texts, text]);
    this.listener.changed();
  }

  /** @param {string[]} texts */
  show(texts) {
    this.texts = texts;
    this.list.hidden = texts.length === 0;
    this.list.replaceChildren(...texts.map((text, i) => this.#chip(text, i)));
  }

  /** @param {string} text @param {number} i */
  #chip(text, i) {
    const size = t("Pasted text, %(count)s characters", { count: text.length.toLocaleString(language) });
    const move = (/** @type {(text: string) => void} */ take) => () => {
      this.#remove(i);
      take(text);
    };
    const show = () =>
      openPasted(size, text, { unfold: move(this.listener.unfold), attach: move(this.listener.attach) });
    const face = h("span", { class: "face" }, h("span", {}, size), h("small", {}, preview(text)));
    const unfold = h(
      "button",
      { type: "button", class: "unfold", title: t("Show the text"), onclick: show },
      icon("file"),
      face,
    );
    const remove = iconButton(t("Remove: %(what)s", { what: size }), "close", () => this.#remove(i), {
      title: t("Remove"),
    });
    return h("li", { class: "chip" }, unfold, remove);
  }

  /** @param {number} i */
  #remove(i) {
    this.show(this.texts.filter((_, at) => at !== i));
    this.listener.changed();
  }
}

/** Shows a long text, and puts it elsewhere: into the field, or among the files. @param {string} heading @param {string} text @param {{unfold: () => void, attach: () => void}} actions */
function openPasted(heading, text, { unfold, attach }) {
  const button = (/** @type {string} */ label, /** @type {() => void} */ action) => {
    const onclick = () => {
      element.close();
      action();
    };
    return h("button", { type: "button", onclick }, label);
  };
  const body = h(
    "pre",
    { class: "file-text", tabIndex: 0, role: "region", dir: "auto", "aria-label": t("Text") },
    text,
  );
  const row = h(
    "div",
    { class: "row" },
    button(t("Put it into the field"), unfold),
    button(t("Attach it as a file"), attach),
  );
  const element = dialog(heading, { class: "large" }, body, row);
  open(element);
}
