/**
 * The files of drafts: taken in by button, drop and paste, uploaded, and shown above the field. Each chat has its own,
 * and its uploads go on while another one is open. A message waits for its files.
 */

import { h } from "../elements/element.js";
import { FileCards } from "../files/file_card.js";
import { entryOfKnown, failedEntry, entryOfUpload, firstUnfit, announcement } from "../files/file_entry.js";
import { FileUploads } from "../files/file_uploads.js";
import { openFile } from "../files/files.js";
import { KeptUploads } from "../files/kept_uploads.js";
import { t, tn } from "../i18n.js";
import { FileInput } from "./file_input.js";

/** @import {FileEntry} from "../files/file_entry.js" */
/** @import {FileInfo} from "../types.js" */
/** @import {DraftFile} from "./drafts.js" */

/**
 * @typedef {object} FilePage
 * @property {() => string[]} models  that will be asked
 * @property {() => string[]} withoutVision  those of them that see no pictures
 * @property {(text: string) => void} announce
 * @property {(error: Error) => void} failed
 */

/** Of one message. */
const MOST = 50;

export class DraftFiles {
  /**
   * @param {HTMLFormElement} form
   * @param {FilePage} page
   * @param {{changed: (session: string|null) => void, left: () => void}} listener  left: focus has no file to go to
   */
  constructor(form, page, listener) {
    this.page = page;
    this.listener = listener;
    this.status = /** @type {HTMLElement} */ (form.querySelector("[data-file-status]"));
    const actions = {
      open: openFile,
      retry: (/** @type {string} */ key) => this.#open.retry(key),
      remove: (/** @type {string} */ key) => this.remove(key),
    };
    this.list = /** @type {HTMLElement} */ (form.querySelector("[data-files]"));
    this.cards = new FileCards(this.list, actions, listener.left);
    this.kept = new KeptUploads(form.dataset.user);
    /** @type {string|null} */
    this.session = null;
    /** By chat. @type {Map<string|null, FileUploads>} */
    this.lists = new Map();
    /** Of files of the server, by id: a message that is not accepted brings them back. @type {Map<string, FileEntry>} */
    this.known = new Map();
    /** Sends the message that waits for its files. @type {(() => void)|null} */
    this.waiting = null;
    new FileInput(form, (files) => this.add(files));
    form.addEventListener("picked", () => this.draw());
    void this.#resume();
  }

  get any() {
    return this.#open.entries.length > 0;
  }

  /** Those of the open chat that the server has. */
  get stored() {
    return this.storedOf(this.session);
  }

  /** @param {string|null} session @returns {DraftFile[]} */
  storedOf(session) {
    const entries = this.#listOf(session).entries.filter(({ id }) => id);
    return entries.map(({ id, name, size, kind, isSent }) => ({ id, name, size, kind, isSent }));
  }

  /** @param {File[]} files @returns {string[]} their keys */
  add(files) {
    const room = MOST - this.#open.entries.length;
    this.stopWaiting();
    if (files.length > room)
      this.#say(tn("A message takes at most %(count)s file.", "A message takes at most %(count)s files.", MOST));
    const keys = this.#open.add(files.slice(0, Math.max(0, room)));
    this.list.scrollTop = this.list.scrollHeight;
    return keys;
  }

  /** As FileUploads.fetch. @param {File} file @param {Promise<FileInfo>} fetched */
  fetch(file, fetched) {
    this.stopWaiting();
    void this.#open.fetch(file, fetched);
  }

  /** @param {string|null} session */
  open(session) {
    this.session = session;
    this.stopWaiting();
    this.draw();
  }

  /** Of the files of the open chat that the server has, exactly these remain. @param {DraftFile[]} files */
  show(files) {
    const list = this.#open;
    const ids = new Set(files.map(({ id }) => id));
    for (const { key, id } of list.entries) if (id && !ids.has(id)) list.take(key);
    const shown = new Set(list.entries.map(({ id }) => id));
    for (const file of files.filter(({ id }) => !shown.has(id))) {
      const entry = this.known.get(file.id) ?? entryOfKnown(file);
      list.put({ ...entry, key: file.id, isSent: file.isSent });
      if (entry.state === "processing") void list.ask(file.id);
    }
    this.draw();
  }

  /** The new chat has become this one. @param {string} session */
  become(session) {
    const list = this.lists.get(null);
    this.lists.delete(null);
    if (list) this.lists.set(session, list);
    if (this.session === null) this.session = session;
    this.kept.move(null, session);
  }

  /** Deletes what no message may have, of the draft of a deleted session. @param {string} session @param {DraftFile[]} stored */
  forget(session, stored) {
    const list = this.#listOf(session);
    const ids = new Set(list.entries.map(({ id }) => id));
    for (const file of stored) if (!ids.has(file.id)) list.put(entryOfKnown(file));
    for (const { key } of list.entries) {
      list.remove(key);
      this.kept.drop(key);
    }
    this.lists.delete(session);
  }

  /**
   * Whether the message cannot be sent yet, for a reason that is said. Calls `send` once its files are ready.
   * @param {() => void} send
   */
  delay(send) {
    const { entries, isSettled } = this.#open;
    this.stopWaiting();
    if (entries.some(({ state }) => state === "failed"))
      this.#say(t("A file could not be attached. Remove it, or try again."));
    else if (!isSettled) {
      this.waiting = send;
      const cancel = h("button", { type: "button", class: "quiet", onclick: () => this.#cancelWaiting() }, t("Cancel"));
      this.#say(t("Your message is sent as soon as its files are read."), cancel);
    } else return false;
    return true;
  }

  stopWaiting() {
    this.waiting = null;
    this.#say("");
  }

  #cancelWaiting() {
    this.stopWaiting();
    this.listener.left();
  }

  /** @param {wire.Frame} frame */
  receive(frame) {
    if (frame.type === "file") for (const list of this.lists.values()) list.receive(frame);
  }

  reconnected() {
    for (const list of this.lists.values()) list.reconnected();
  }

  draw() {
    const models = this.page.models();
    const [firstWithoutVision] = this.page.withoutVision();
    this.cards.show(this.#open.entries, (entry) => {
      const unfit = firstUnfit([entry], models);
      if (unfit) return t("too large for %(model)s", { model: unfit.model });
      const hasPictures = entry.kind === "image" || entry.shownPages > 0;
      return firstWithoutVision && hasPictures && entry.state === "ready"
        ? t("%(model)s sees no pictures", { model: firstWithoutVision })
        : "";
    });
  }

  get #open() {
    return this.#listOf(this.session);
  }

  /** @param {string|null} session */
  #listOf(session) {
    let list = this.lists.get(session);
    if (!list) {
      /** @type {FileUploads} */
      const made = new FileUploads({ changed: (entry) => this.#onChange(made, entry), failed: this.page.failed });
      this.lists.set(session, (list = made));
    }
    return list;
  }

  /** @param {string} key */
  remove(key) {
    this.#open.remove(key);
    this.kept.drop(key);
    this.stopWaiting();
    this.listener.changed(this.session);
  }

  /** @param {FileUploads} list @param {FileEntry} [entry] */
  #onChange(list, entry) {
    const session = [...this.lists].find(([, one]) => one === list)?.[0] ?? null;
    if (session === this.session) this.draw();
    if (!entry) return;
    this.#keep(list, entry, session);
    if (announcement(entry)) this.page.announce(announcement(entry));
    this.listener.changed(session);
    if (session === this.session) this.#goOn(list);
  }

  /** @param {FileUploads} list @param {FileEntry} entry @param {string|null} session */
  #keep(list, entry, session) {
    const content = list.contents.get(entry.key);
    if (entry.id) this.known.set(entry.id, entry);
    if (entry.id || !content) this.kept.drop(entry.key);
    else this.kept.keep({ key: entry.key, session, name: entry.name, size: entry.size }, content);
  }

  /** @param {FileUploads} list */
  #goOn({ entries, isSettled }) {
    const send = this.waiting;
    if (!send) return;
    if (entries.some(({ state }) => state === "failed")) this.delay(send);
    else if (isSettled) {
      this.stopWaiting();
      send();
    }
  }

  /** Goes on with the uploads that a reload interrupted; those whose content is lost say so. */
  async #resume() {
    for (const { key, session, name, size, content } of await this.kept.read()) {
      const list = this.#listOf(session);
      if (content) list.upload(key, content);
      else list.put(failedEntry(entryOfUpload(key, new File([], name)), { code: "upload_interrupted", status: 400 }));
    }
  }

  /** @param {string} text @param {...Node} more */
  #say(text, ...more) {
    this.status.hidden = !text;
    this.status.replaceChildren(text, ...more);
  }
}
