/** The files of a project: uploads, what becomes of them, how large all are, and which models read them whole. */

import { ask } from "../elements/dialogs.js";
import { h } from "../elements/element.js";
import { icon } from "../elements/icons.js";
import { FileCards } from "../files/file_card.js";
import { takeDrops, FileUploads } from "../files/file_uploads.js";
import { entryOfInfo, announcement, tokenText } from "../files/file_entry.js";
import { openFile, deleteFile } from "../files/files.js";
import { t, tn } from "../i18n.js";
import { indexingText } from "../knowledge/knowledge_store.js";
import { unlessGone } from "../server/api.js";

/** @import {FileEntry} from "../files/file_entry.js" */
/** @import {Model, Project} from "../types.js" */

export class ProjectFiles {
  /**
   * @param {object} page
   * @param {() => Model[]} page.models
   * @param {(text: string) => void} page.announce
   * @param {(action: () => Promise<any>) => Promise<boolean>} page.attempt
   * @param {(error: any) => void} page.failed
   */
  constructor(page) {
    this.page = page;
    /** @type {Project|null} */
    this.project = null;
    /** The uploads by project: they go on while another page is shown. @type {Map<string, ProjectUploads>} */
    this.uploadsByProject = new Map();
    this.list = h("ul", { class: "file-cards", "aria-label": t("Files of this project") });
    this.size = h("p", { class: "hint", role: "status" });
    this.indexing = h("p", { class: "hint", role: "status" });
    this.input = h("input", { type: "file", multiple: true, hidden: true, onchange: () => this.#picked() });
    this.button = h(
      "button",
      { type: "button", class: "small", onclick: () => this.input.click() },
      icon("plus"),
      t("Add files"),
    );
    const head = h("div", { class: "line" }, h("h2", {}, t("Files")), this.button, this.input);
    this.element = h(
      "section",
      { class: "project-part", "aria-label": t("Files") },
      head,
      this.list,
      this.size,
      this.indexing,
    );
    takeDrops(this.element, (files) => this.#open.uploads.add(files));
  }

  /** @param {Project} project */
  show(project) {
    const isOther = project.id !== this.project?.id;
    this.project = project;
    if (isOther) this.#newCards();
    this.#uploadsOf(project.id).follow(project);
    this.#draw();
  }

  /** @param {wire.Frame} frame */
  receive(frame) {
    if (frame.type === "file") for (const { uploads } of this.uploadsByProject.values()) uploads.receive(frame);
  }

  reconnected() {
    for (const { uploads } of this.uploadsByProject.values()) uploads.reconnected();
  }

  /** Cards are kept by file, and each project has its own. */
  #newCards() {
    const actions = {
      open: openFile,
      retry: (/** @type {string} */ key) => this.#open.uploads.retry(key),
      remove: (/** @type {string} */ key) => this.#remove(key),
    };
    this.list.replaceChildren();
    this.cards = new FileCards(this.list, actions, () => this.button.focus());
  }

  /** @returns {ProjectUploads} */
  get #open() {
    return this.#uploadsOf(this.project.id);
  }

  /** @param {string} id @returns {ProjectUploads} */
  #uploadsOf(id) {
    if (!this.uploadsByProject.has(id)) {
      const changed = (/** @type {FileEntry|undefined} */ entry) => this.#onChange(id, entry);
      const uploads = new FileUploads({ changed, failed: this.page.failed, project: id });
      this.uploadsByProject.set(id, new ProjectUploads(uploads));
    }
    return this.uploadsByProject.get(id);
  }

  /** @param {string} id @param {FileEntry} [entry] */
  #onChange(id, entry) {
    if (entry && announcement(entry)) this.page.announce(announcement(entry));
    if (id === this.project?.id && this.uploadsByProject.has(id)) this.#draw();
  }

  #draw() {
    const { entries } = this.#open.uploads;
    const isSeen = this.page.models().some((model) => model.supports_vision);
    this.cards.show(entries, (entry) =>
      entry.kind === "image" && entry.state === "ready" && !isSeen ? t("No model sees pictures.") : "",
    );
    this.size.textContent = this.#sizeText(entries);
    this.indexing.textContent = indexingText(this.project);
  }

  /** @param {FileEntry[]} entries */
  #sizeText(entries) {
    const { token_count: tokens, fits } = this.project;
    if (entries.length === 0) return t("Models know the files of a project in all of its chats.");
    const counts = tn("%(count)s file", "%(count)s files", entries.length);
    if (tokens === 0) return counts;
    return [counts, tokenText(tokens), fitText(fits, this.page.models())].filter(Boolean).join(" · ");
  }

  #picked() {
    this.#open.uploads.add([...this.input.files]);
    this.input.value = ""; // the same file may be picked again
  }

  /** @param {string} key */
  async #remove(key) {
    const { uploads, removed } = this.#open;
    const entry = uploads.entryOf(key);
    if (!entry?.id) return uploads.remove(key);
    const what = h(
      "p",
      {},
      t("“%(name)s” is deleted for good. The chats of this project go on without it.", { name: entry.name }),
    );
    if (!(await ask(t("Delete this file?"), { yes: t("Delete") }, what))) return;
    const isGone = await this.page.attempt(() => deleteFile(entry.id).catch(unlessGone));
    if (!isGone) return;
    removed.add(entry.id);
    uploads.take(key);
  }
}

/** The uploads of one project, and what its list of files adds and takes away. */
class ProjectUploads {
  /** @param {FileUploads} uploads */
  constructor(uploads) {
    this.uploads = uploads;
    /** Ids of the files that the project had last. @type {Set<string>} */
    this.known = new Set();
    /** Ids of those deleted here: the project was read before. @type {Set<string>} */
    this.removed = new Set();
  }

  /** @param {Project} project */
  follow({ files }) {
    const { uploads } = this;
    const ids = new Set(files.map(({ id }) => id));
    for (const { key, id } of uploads.entries) if (this.known.has(id) && !ids.has(id)) uploads.take(key);
    this.known = ids;
    for (const file of files) {
      const entry = uploads.entries.find(({ id }) => id === file.id);
      // A file that this page uploads has an entry of its own until its id is known; what the socket said may be newer.
      const isNews = entry
        ? entry.state === "processing" && file.status !== "processing"
        : !this.#isUploading && !this.removed.has(file.id);
      if (isNews) uploads.put(entryOfInfo(file, entry));
    }
  }

  get #isUploading() {
    return this.uploads.entries.some(({ id, state }) => !id && (state === "waiting" || state === "uploading"));
  }
}

// Which models are sent all files of a project, which search them, and which cannot.

/** @param {Record<string, boolean>} fits by model @param {Model[]} models those that may be asked */
export function fitText(fits, models) {
  const named = (/** @type {Model[]} */ some) => some.map(({ name }) => name).join(", ");
  const whole = models.filter(({ name }) => fits[name]);
  const left = models.filter(({ name }) => fits[name] === false);
  const searching = left.filter((model) => model.supports_tools);
  const without = left.filter((model) => !model.supports_tools);
  if (models.length === 0) return ""; // not known yet
  if (left.length === 0) return t("part of every question");
  if (searching.length === models.length) return t("too large for every question: models search them");
  const parts = [
    whole.length > 0 && t("part of every question to %(models)s", { models: named(whole) }),
    searching.length > 0 && t("searched by %(models)s", { models: named(searching) }),
    without.length > 0 && t("too large for %(models)s", { models: named(without) }),
  ];
  return parts.filter(Boolean).join(", ");
}
