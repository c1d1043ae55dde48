/** The documents of one base: those that were read, page by page, and the uploads on their way. Draws nothing. */

import { randomId } from "../server/api.js";
import { FileUploads } from "../files/file_uploads.js";
import { deleteDocument, readDocument, readDocuments, uploadDocument } from "./knowledge_api.js";
import { RepeatedRead } from "../server/list_store.js";

/** @import {FileEntry} from "../files/file_entry.js" */
/** @import {FileInfo, KnowledgeDocument} from "../types.js" */

export class DocumentList {
  /** @param {string} base @param {{changed: (document?: KnowledgeDocument) => void, failed: (error: any) => void}} listener  document: one that has ended */
  constructor(base, listener) {
    this.base = base;
    this.listener = listener;
    /** null: not read yet. @type {KnowledgeDocument[]|null} */
    this.documents = null;
    /** The query of the next page. @type {string|null} */
    this.next = null;
    this.isExtending = false;
    /** A list was read that may have held an upload already. */
    this.isOutdated = false;
    this.reading = new RepeatedRead(() => this.#read());
    this.uploads = new FileUploads({
      server: documentsOf(base),
      changed: (entry) => this.#onUpload(entry),
      failed: listener.failed,
    });
  }

  /** @param {Iterable<File>} files */
  upload(files) {
    for (const file of files) this.uploads.upload(randomId(), file);
  }

  /** Reads as many as were read before, and the first page at least. */
  refresh() {
    return this.reading.ask();
  }

  async extend() {
    const { next } = this;
    if (next === null || this.isExtending) return;
    this.isExtending = true;
    const page = await readDocuments(this.base, next).catch(this.listener.failed);
    this.isExtending = false;
    if (!page || this.next !== next) return;
    this.#set([...this.documents, ...page.results], page.next);
  }

  /** @param {KnowledgeDocument} document as the server has it now; a new one comes first */
  put(document) {
    const known = this.documents ?? [];
    const at = known.findIndex(({ id }) => id === document.id);
    this.documents = at === -1 ? [document, ...known] : known.with(at, document);
    this.listener.changed();
    void this.refresh();
  }

  /** @param {string} id */
  remove(id) {
    this.documents = this.documents.filter((document) => document.id !== id);
    this.listener.changed();
    void this.refresh();
  }

  async #read() {
    const wanted = this.documents?.length ?? 0;
    const seen = new Map();
    let query = /** @type {string|null} */ ("");
    try {
      do {
        const page = await readDocuments(this.base, query);
        for (const document of page.results) seen.set(document.id, document);
        query = page.next;
      } while (query !== null && seen.size < wanted);
    } catch (error) {
      // Of a base that is gone, or whose documents are no longer the user's to read, the list of bases tells.
      if (error.status !== 404) this.listener.failed(error);
      return;
    }
    // The document of an upload whose answer is on its way would stand beside it; put() reads again.
    this.isOutdated = this.#awaitsAnswer;
    if (!this.isOutdated) this.#set([...seen.values()], query);
  }

  /** Whether an upload was sent whole. */
  get #awaitsAnswer() {
    return this.uploads.entries.some(({ state, progress }) => state === "uploading" && progress === 1);
  }

  /** @param {KnowledgeDocument[]} documents @param {string|null} next */
  #set(documents, next) {
    const before = new Map((this.documents ?? []).map(({ id, status }) => [id, status]));
    this.documents = documents;
    this.next = next;
    this.listener.changed();
    for (const document of documents)
      if (before.get(document.id) === "processing" && document.status !== "processing") this.listener.changed(document);
  }

  /** What the server has is one of the documents. @param {FileEntry} [entry] */
  #onUpload(entry) {
    if (!entry?.id) {
      if (this.isOutdated && !this.#awaitsAnswer) void this.refresh();
      return this.listener.changed();
    }
    const { id, name: title, kind, size, state, tokens, error } = entry;
    this.uploads.take(entry.key);
    const status = state === "ready" || state === "failed" ? state : "processing";
    this.put({
      id,
      title,
      kind,
      size,
      status,
      token_count: tokens,
      content_type: "",
      url: null,
      error: /** @type {any} */ (error),
    });
  }
}

/** What uploads become there. @param {string} base @returns {import("../files/file_uploads.js").FileServer} */
export const documentsOf = (base) => ({
  upload: (file, { progressed }) => asInfo(uploadDocument(base, file, progressed)),
  read: async (id) => infoOf(await readDocument(base, id)),
  remove: (id) => deleteDocument(base, id),
});

/** A document as a list of files shows it. @param {KnowledgeDocument} document @returns {FileInfo} */
export function infoOf({ error, ...document }) {
  return { ...document, name: document.title, project: null, ...(error ? { error } : {}) };
}

/** @param {{done: Promise<KnowledgeDocument>, abort: () => void}} upload */
const asInfo = ({ done, abort }) => ({ done: done.then(infoOf), abort });
