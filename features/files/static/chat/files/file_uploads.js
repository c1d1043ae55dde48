/**
 * A list of files: uploads those that are added, a few at a time, and follows each until it is ready or has failed. The
 * composer has one for each draft, the page of a project one for its files, that of a knowledge base one for its
 * documents. Parts of the page take dropped files, instead of the composer, which takes what no other element does.
 */

import { ApiError, randomId } from "../server/api.js";
import { deleteFile, readFile, uploadFile } from "./files.js";
import { entryOfInfo, entryOfUpload, failedEntry } from "./file_entry.js";

/** @import {FileEntry} from "./file_entry.js" */
/** @import {FileInfo} from "../types.js" */

/** @typedef {ReturnType<typeof uploadFile>} Upload */
/** @typedef {{upload: (file: File, options: {project?: string, progressed?: (share: number) => void}) => Upload, read: (id: string) => Promise<FileInfo>, remove: (id: string) => Promise<any>}} FileServer */

/** @type {FileServer} */
const FILES = { upload: uploadFile, read: readFile, remove: deleteFile };
const AT_ONCE = 3;
/** Of the small pictures of uploads. */
const THUMBNAIL_PX = 112;
/** The socket says when a file is ready. What it does not say, such as while it is away, is asked for this often. */
const ASK_EVERY_MS = 10_000;

export class FileUploads {
  /**
   * @param {object} options
   * @param {(entry?: FileEntry) => void} options.changed  entry: the one that is new or has another state
   * @param {(error: Error) => void} options.failed  a file could not be deleted
   * @param {string} [options.project]  the uploads belong to it
   * @param {number} [options.maxBytes]  of one file
   * @param {FileServer} [options.server]  what they become there
   */
  constructor({ changed, failed, project, maxBytes = maxFileBytes(), server = FILES }) {
    this.options = { changed, failed, project, maxBytes, server };
    /** In the order in which they were added. @type {FileEntry[]} */
    this.entries = [];
    /** Of uploads that are not complete, by key. @type {Map<string, File>} */
    this.contents = new Map();
    /** @type {Map<string, () => void>} */
    this.aborts = new Map();
    /** Frames of files that no entry has yet: a file may be ready before the answer to its upload. @type {Map<string, FileInfo>} */
    this.early = new Map();
    this.timer = 0;
  }

  get isSettled() {
    return this.entries.every(({ state }) => state === "ready" || state === "failed");
  }

  /** @param {Iterable<File>} files @returns {string[]} their keys */
  add(files) {
    return Array.from(files, (file) => {
      const key = randomId();
      this.upload(key, file);
      return key;
    });
  }

  /** @param {string} key @param {File} file */
  upload(key, file) {
    const entry = entryOfUpload(key, file);
    const code = file.size === 0 ? "file_empty" : file.size > this.options.maxBytes ? "file_too_large" : "";
    if (code) return this.put(failedEntry(entry, { code, status: 400, max: this.options.maxBytes }));
    this.contents.set(key, file);
    this.put(entry);
    if (entry.kind === "image") void this.#addThumbnail(key, file);
    this.#startNext();
  }

  /** Adds a file that the server gets by itself. @param {File} file its name and type alone @param {Promise<FileInfo>} fetched */
  fetch(file, fetched) {
    const key = randomId();
    this.aborts.set(key, () => {});
    this.put({ ...entryOfUpload(key, file), state: "processing", progress: 1 });
    return this.#follow(key, fetched);
  }

  /** Adds an entry, or replaces the one with its key. @param {FileEntry} entry */
  put(entry) {
    const at = this.entries.findIndex(({ key }) => key === entry.key);
    this.entries = at === -1 ? [...this.entries, entry] : this.entries.with(at, entry);
    this.options.changed(entry);
    this.#askLater();
  }

  /** Uploads again what failed. @param {string} key */
  retry(key) {
    const entry = this.entryOf(key);
    if (!entry?.canRetry || !this.contents.has(key)) return;
    this.put({ ...entry, state: "waiting", progress: 0, error: null, canRetry: false });
    this.#startNext();
  }

  /** Cancels an upload; the server deletes the file, unless a message may have it. @param {string} key */
  remove(key) {
    const entry = this.take(key);
    // Once all bytes are sent the file may be stored already: then its answer tells what to delete.
    if (entry && entry.progress < 1) this.aborts.get(key)?.();
    if (entry?.id && !entry.isSent) this.#delete(entry.id);
  }

  /** Takes an entry out of the list, and leaves the file alone. @param {string} key */
  take(key) {
    const entry = this.entryOf(key);
    this.entries = this.entries.filter((one) => one !== entry);
    this.contents.delete(key);
    this.options.changed();
    return entry;
  }

  /** @param {string} key */
  entryOf(key) {
    return this.entries.find((entry) => entry.key === key);
  }

  /** @param {wire.Frame} frame */
  receive(frame) {
    if (frame.type !== "file") return;
    const entry = this.entries.find(({ id }) => id === frame.id);
    if (entry) this.put(entryOfInfo(frame, entry));
    else if (this.aborts.size > 0) this.early.set(frame.id, frame);
  }

  /** The connection is back: uploads go on, and what was missed is read. */
  reconnected() {
    for (const { key, error } of this.entries) if (error?.status === 0) this.retry(key);
    this.#askAll();
  }

  #startNext() {
    const waiting = this.entries.filter(({ state }) => state === "waiting");
    for (const { key } of waiting.slice(0, Math.max(0, AT_ONCE - this.aborts.size))) void this.#upload(key);
  }

  /** @param {string} key */
  async #upload(key) {
    const { project, server } = this.options;
    const { done, abort } = server.upload(this.contents.get(key), {
      project,
      progressed: (progress) => this.#progress(key, progress),
    });
    this.aborts.set(key, abort);
    this.put({ ...this.entryOf(key), state: "uploading" });
    await this.#follow(key, done);
  }

  /** @param {string} key @param {Promise<FileInfo>} done */
  async #follow(key, done) {
    try {
      this.#stored(key, await done);
    } catch (error) {
      const entry = this.entryOf(key);
      if (entry) this.put(failedEntry(entry, error));
    }
    this.aborts.delete(key);
    if (this.aborts.size === 0) this.early.clear();
    this.#startNext();
  }

  /** @param {string} key @param {number} progress */
  #progress(key, progress) {
    const entry = this.entryOf(key);
    if (!entry) return;
    this.entries = this.entries.with(this.entries.indexOf(entry), { ...entry, progress });
    this.options.changed();
  }

  /** @param {string} key @param {FileInfo} info */
  #stored(key, info) {
    const entry = this.entryOf(key);
    this.contents.delete(key);
    if (entry) this.put(entryOfInfo(this.early.get(info.id) ?? info, entry));
    else this.#delete(info.id); // removed meanwhile
  }

  /** @param {string} id */
  #delete(id) {
    this.options.server.remove(id).catch((error) => error.status === 404 || this.options.failed(error));
  }

  /** @param {string} key @param {File} file */
  async #addThumbnail(key, file) {
    const picture = await localThumbnail(file);
    const entry = this.entryOf(key);
    if (entry && picture) this.put({ ...entry, picture });
  }

  #askLater() {
    clearTimeout(this.timer);
    if (this.#unread.length > 0) this.timer = setTimeout(() => this.#askAll(), ASK_EVERY_MS);
  }

  get #unread() {
    return this.entries.filter(({ id, state }) => id && state === "processing");
  }

  #askAll() {
    for (const { key } of this.#unread) void this.ask(key);
  }

  /** Reads how a file gets on. @param {string} key */
  async ask(key) {
    const { id } = this.entryOf(key);
    try {
      const info = await this.options.server.read(id);
      const entry = this.entryOf(key);
      // What the socket said meanwhile is newer.
      if (entry?.state === "processing") this.put(entryOfInfo(info, entry));
    } catch (error) {
      const entry = this.entryOf(key);
      if (entry && error.status === 404) this.put(failedEntry(entry, new ApiError(404, "file_not_found", "")));
      else this.#askLater();
    }
  }
}

/** The page knows how large a file may be, so that nothing is sent in vain. */
const maxFileBytes = () => Number(globalThis.document?.body.dataset.maxFileBytes ?? Infinity);

/** A small picture of an image that is being uploaded, as a data URL: the page's policy accepts no object URLs. @param {File} file @returns {Promise<string>} empty: the browser cannot draw it */
async function localThumbnail(file) {
  try {
    const bitmap = await createImageBitmap(file, { resizeHeight: THUMBNAIL_PX, resizeQuality: "medium" });
    const canvas = document.createElement("canvas");
    canvas.width = Math.min(bitmap.width, 4 * THUMBNAIL_PX);
    canvas.height = bitmap.height;
    canvas.getContext("2d").drawImage(bitmap, 0, 0);
    bitmap.close();
    return canvas.toDataURL("image/jpeg", 0.8);
  } catch {
    return "";
  }
}

/**
 * While files are over the element it has the class `over`.
 * @param {HTMLElement} element @param {(files: File[]) => void} take @param {() => boolean} [mayTake]
 */
export function takeDrops(element, take, mayTake = () => true) {
  element.classList.add("takes-files");
  const over = (/** @type {DragEvent} */ event) => {
    if (!event.dataTransfer?.types.includes("Files") || !mayTake()) return;
    event.preventDefault();
    element.classList.toggle("over", event.type === "dragover");
    if (event.type === "drop") take([...event.dataTransfer.files]);
  };
  for (const type of /** @type {const} */ (["dragenter", "dragover", "dragleave", "drop"]))
    element.addEventListener(type, over);
}
