/** What an agent searches: knowledge bases, and files that become documents of one of them when the agent is saved. */

import { addMember, createBase, deleteBase, deleteDocument } from "../knowledge/knowledge_api.js";
import { boxes, boxRow, checked, group } from "../elements/forms.js";
import { documentsOf } from "../knowledge/document_list.js";
import { entryOfUpload } from "../files/file_entry.js";
import { takeDrops, FileUploads } from "../files/file_uploads.js";
import { FileCards } from "../files/file_card.js";
import { h } from "../elements/element.js";
import { icon } from "../elements/icons.js";
import { isAccepted, isEditable, isOwned } from "../knowledge/knowledge_store.js";
import { randomId } from "../server/api.js";
import { t } from "../i18n.js";

/** @import {FileEntry} from "../files/file_entry.js" */
/** @import {KnowledgeBase} from "../types.js" */

const NEW_BASE = "";

export class AgentKnowledge {
  /** @param {{name: string, knowledge_bases: string[]}} agent @param {KnowledgeBase[]} bases those of the user @param {boolean} isForeign  it is read, not changed */
  constructor(agent, bases, isForeign) {
    /** The bases of the user, with the one that was made here. */
    this.bases = [...bases];
    const gone = agent.knowledge_bases.filter((id) => !bases.some((base) => base.id === id));
    const offered = bases.filter(({ id, accepted }) => accepted || agent.knowledge_bases.includes(id));
    const names = new Map([
      ...offered.map(({ id, name }) => /** @type {const} */ ([id, name])),
      ...gone.map((id) => /** @type {const} */ ([id, t("Unknown knowledge base")])),
    ]);
    this.boxes = boxes(names, agent.knowledge_bases);
    /** The files that are not sent yet, and their cards, by key. @type {Map<string, {file: File, entry: FileEntry}>} */
    this.files = new Map();
    /** Functions that delete what was sent for the agent since the agent was stored. @type {(() => Promise<any>)[]} */
    this.undo = [];
    /** The id of the base that was made for the files. @type {string|null} */
    this.made = null;
    /** The uploads that are on their way. @type {FileUploads|null} */
    this.uploads = null;
    this.list = h("ul", { class: "file-cards", "aria-label": t("Files"), hidden: true });
    this.cards = new FileCards(this.list, { remove: (key) => this.#remove(key) }, () => this.add.focus());
    this.input = h("input", { type: "file", multiple: true, hidden: true, onchange: () => this.#picked() });
    this.add = h(
      "button",
      { type: "button", class: "small", onclick: () => this.input.click() },
      icon("plus"),
      t("Add files"),
    );
    this.into = h(
      "select",
      { id: "agent-files-go-to" },
      h("option", { value: NEW_BASE }, t("A new knowledge base")),
      ...this.#editable.map(({ id, name }) => h("option", { value: id }, name)),
    );
    this.into.value = this.#owned.find(({ name }) => name === agent.name)?.id ?? NEW_BASE;
    this.target = h(
      "div",
      { class: "field", hidden: true },
      h("label", { htmlFor: this.into.id }, t("The files go to")),
      this.into,
    );
    this.added = h("div", { class: "agent-files" });
    this.element = group(t("Knowledge"), this.boxes, names);
    if (isForeign) this.element.hidden = this.boxes.length === 0;
    else this.#offerFiles();
  }

  /** @returns {string[]} ids of bases; some may be deleted */
  get value() {
    return checked(this.boxes);
  }

  get isChanged() {
    return this.files.size > 0;
  }

  /** Whether it will search a base that is the user's to share. */
  get isShareable() {
    return this.files.size > 0 || this.#owned.length > 0;
  }

  /** Uploads the files that were added. Those that are refused stay in the list. @param {string} name of the agent, and of a new base @returns {Promise<boolean>} whether the server has all of them */
  async send(name) {
    if (this.files.size === 0) return true;
    await this.#openBase(name);
    await new Promise((/** @type {(sent: null) => void} */ sent) => {
      const uploads = new FileUploads({
        server: documentsOf(this.into.value),
        changed: (entry) => this.#onUpload(uploads, entry, sent),
        failed: () => {},
      });
      this.uploads = uploads;
      for (const [key, { file }] of this.files) uploads.upload(key, file);
      if (this.files.size === 0) sent(null); // all were removed meanwhile
    });
    this.uploads = null;
    this.#show();
    return this.files.size === 0;
  }

  /** Call it once the agent is stored: what was sent for it stays. */
  confirm() {
    this.undo = [];
  }

  /** Ends the uploads that are on their way, and deletes what was stored since the agent was. */
  abandon() {
    this.files.clear();
    for (const { key } of this.uploads?.entries ?? []) this.uploads.remove(key);
    for (const remove of this.undo.splice(0)) void remove().catch(() => {}); // is found under Knowledge, then
  }

  /** Makes people readers of the bases that are the user's to share. @param {string[]} people user names */
  async invite(people) {
    for (const { id } of this.#owned) {
      for (const user of people) await addMember(id, { user, role: "reader" }).catch(unlessMember);
    }
  }

  /** The bases that it searches and that are the user's to share. */
  get #owned() {
    return this.#editable.filter((base) => isOwned(base) && this.value.includes(base.id));
  }

  /** The bases that files may go to. */
  get #editable() {
    return this.bases.filter((base) => isAccepted(base) && isEditable(base));
  }

  #offerFiles() {
    const hint = h(
      "p",
      { class: "hint" },
      t("Its chats search these, and cite what they find. Files become documents of a knowledge base when you save."),
    );
    this.added.append(this.list, this.target, h("div", {}, this.add, this.input), hint);
    this.element.append(this.added);
    takeDrops(this.element, (files) => this.#addFiles(files));
  }

  #picked() {
    this.#addFiles([...this.input.files]);
    this.input.value = ""; // the same file may be picked again
  }

  /** @param {File[]} files */
  #addFiles(files) {
    for (const file of files) {
      const key = randomId();
      this.files.set(key, { file, entry: { ...entryOfUpload(key, file), state: "ready" } });
      this.uploads?.upload(key, file);
    }
    this.#show();
  }

  /** @param {string} key */
  #remove(key) {
    this.files.delete(key);
    this.uploads?.remove(key);
    this.#show();
  }

  #show() {
    this.cards.show([...this.files.values()].map(({ entry }) => entry));
    this.target.hidden = this.files.size === 0 || this.#editable.length === 0;
    this.element.dispatchEvent(new Event("change"));
  }

  /** Makes the base that files go to, if it is a new one, and lets the agent search it. @param {string} name */
  async #openBase(name) {
    if (this.into.value === NEW_BASE) {
      const base = await createBase(name);
      this.made = base.id;
      this.undo.push(() => deleteBase(base.id));
      this.bases.push(base);
      this.into.append(h("option", { value: base.id }, base.name));
      this.into.value = base.id;
      const [box] = boxes(new Map([[base.id, base.name]]), []);
      this.boxes.push(box);
      this.added.before(boxRow(box, base.name));
    }
    this.boxes.find(({ value }) => value === this.into.value).checked = true;
  }

  /** @param {FileUploads} uploads @param {FileEntry|undefined} entry @param {(sent: null) => void} sent */
  #onUpload(uploads, entry, sent) {
    if (entry?.id) {
      const [base, { id, key }] = [this.into.value, entry];
      if (base !== this.made) this.undo.push(() => deleteDocument(base, id));
      this.files.delete(key);
      uploads.take(key);
    }
    for (const upload of uploads.entries) if (this.files.has(upload.key)) this.files.get(upload.key).entry = upload;
    this.#show();
    if ([...this.files.keys()].every((key) => uploads.entryOf(key)?.state === "failed")) sent(null);
  }
}

/** @param {any} error */
function unlessMember(error) {
  if (error.code !== "already_member") throw error;
}
