/** The documents of a knowledge base, with how each gets on. Editors add them: by button, drop, text or address. */

import { ask } from "../elements/dialogs.js";
import { h, setChildren } from "../elements/element.js";
import { icon } from "../elements/icons.js";
import { attachMenu, menuButton } from "../elements/menu.js";
import { entryOfInfo, announcement, stateText } from "../files/file_entry.js";
import { takeDrops } from "../files/file_uploads.js";
import { openFile, readText } from "../files/files.js";
import { askFor, line, text } from "../elements/forms.js";
import { t } from "../i18n.js";
import {
  addDocument,
  deleteDocument,
  documentAt,
  renameDocument,
  replaceDocument,
  uploadVersion,
} from "./knowledge_api.js";
import { unlessGone } from "../server/api.js";
import { DocumentList, infoOf } from "./document_list.js";
import { isEditable } from "./knowledge_store.js";
import { hostOf } from "../elements/formats.js";
import { showText, visibleText } from "../elements/visible_text.js";

/** @import {MenuItem} from "../elements/menu.js" */
/** @import {FileEntry} from "../files/file_entry.js" */
/** @import {KnowledgeBase, KnowledgeDocument} from "../types.js" */

const LONGEST_TITLE = 255;

export class DocumentsView {
  /** @param {{announce: (text: string) => void, attempt: (action: () => Promise<any>) => Promise<boolean>, failed: (error: any) => void}} page */
  constructor(page) {
    this.page = page;
    /** @type {KnowledgeBase|null} */
    this.base = null;
    /** By base: uploads go on while another page is shown. @type {Map<string, DocumentList>} */
    this.lists = new Map();
    /** Of the shown base, by document or upload. @type {Map<string, DocumentRow>} */
    this.rows = new Map();
    /** Which document the picked file is a new version of. @type {KnowledgeDocument|null} */
    this.replaced = null;
    this.list = h("ul", { class: "documents", "aria-label": t("Documents") });
    this.none = h("p", { class: "hint" });
    this.more = h(
      "button",
      { type: "button", class: "quiet", onclick: () => this.#open.extend() },
      t("Show more documents"),
    );
    this.input = h("input", { type: "file", multiple: true, hidden: true, onchange: () => this.#picked() });
    this.add = h("button", { type: "button", class: "small" }, icon("plus"), t("Add documents"));
    attachMenu(this.add, () => this.#ways());
    this.element = h(
      "section",
      { class: "knowledge-part", "aria-label": t("Documents") },
      h("div", { class: "line" }, h("h2", {}, t("Documents")), this.add, this.input),
      this.list,
      this.none,
      this.more,
    );
    takeDrops(
      this.element,
      (files) => this.#open.upload(files),
      () => isEditable(this.base),
    );
  }

  /** @param {KnowledgeBase} base @param {boolean} isOther */
  show(base, isOther) {
    this.base = base;
    this.add.hidden = !isEditable(base);
    if (isOther) {
      this.rows.clear();
      this.list.replaceChildren();
      void this.#open.refresh();
    }
    this.#draw();
  }

  /** @param {wire.Frame} frame */
  receive(frame) {
    if (frame.type === "knowledge_base_changed") void this.lists.get(frame.knowledge_base)?.refresh();
    else if (frame.type === "knowledge_base_deleted") this.lists.delete(frame.knowledge_base);
    else if (frame.type === "sessions_watched" && this.base) this.#reconnected();
  }

  /** Reads those of the shown base again. */
  refresh() {
    return this.#open.refresh();
  }

  #reconnected() {
    for (const { uploads } of this.lists.values()) uploads.reconnected();
    void this.refresh();
  }

  /** @returns {DocumentList} */
  get #open() {
    const { id } = this.base;
    let list = this.lists.get(id);
    if (!list) {
      const changed = (/** @type {KnowledgeDocument|undefined} */ document) => this.#onChange(id, document);
      this.lists.set(id, (list = new DocumentList(id, { changed, failed: this.page.failed })));
    }
    return list;
  }

  /** @param {string} base @param {KnowledgeDocument} [ended] */
  #onChange(base, ended) {
    if (ended) this.page.announce(announcement(entryOfInfo(infoOf(ended))));
    else if (base === this.base?.id && this.lists.has(base)) this.#draw();
  }

  #draw() {
    const { documents, uploads, next } = this.#open;
    const hadFocus = this.list.contains(document.activeElement);
    const wanted = [
      ...uploads.entries.toReversed().map((entry) => this.#row(entry)),
      ...(documents ?? []).map((one) => this.#row(entryOfInfo(infoOf(one)), one)),
    ];
    const keys = new Set(wanted.map(({ entry }) => entry.key));
    for (const key of this.rows.keys()) if (!keys.has(key)) this.rows.delete(key);
    setChildren(
      this.list,
      wanted.map(({ element }) => element),
    );
    if (hadFocus && !this.list.contains(document.activeElement)) this.add.focus();
    this.list.hidden = wanted.length === 0;
    this.none.hidden = documents === null || wanted.length > 0;
    this.none.textContent = isEditable(this.base)
      ? t("None yet. Add files, also by dropping them here, texts or addresses.")
      : t("None yet.");
    this.more.hidden = next === null;
  }

  /** @param {FileEntry} entry @param {KnowledgeDocument} [document] undefined: an upload on its way */
  #row(entry, document) {
    const row =
      this.rows.get(entry.key) ??
      new DocumentRow({
        open: (one) => openFile({ id: one.id, name: one.title, at: documentAt(this.base.id, one.id) }),
        items: (one) => this.#items(one),
        retry: (key) => this.#open.uploads.retry(key),
        cancel: (key) => this.#open.uploads.remove(key),
      });
    this.rows.set(entry.key, row);
    row.show(entry, document, isEditable(this.base));
    return row;
  }

  /** @returns {MenuItem[]} */
  #ways() {
    const add = (/** @type {typeof addText} */ asked) =>
      this.page.attempt(async () => this.#put(await asked(this.base.id)));
    return [
      { label: t("Files"), icon: "upload", action: () => this.#pick(null) },
      { label: t("Text"), icon: "edit", action: () => add(addText) },
      { label: t("Address of a web page"), icon: "globe", action: () => add(addAddress) },
    ];
  }

  /** @param {KnowledgeDocument} one @returns {MenuItem[]} */
  #items(one) {
    const base = this.base.id;
    const change = (/** @type {typeof rename} */ edited) =>
      this.page.attempt(async () => this.#put(await edited(base, one)));
    const again = () =>
      this.page.attempt(async () => this.#put(await replaceDocument(base, one.id, { url: one.url, title: one.title })));
    return [
      { label: t("Rename"), icon: "edit", action: () => change(rename) },
      ...(one.url ? [{ label: t("Read the address again"), icon: /** @type {const} */ ("retry"), action: again }] : []),
      {
        label: t("Replace by a file"),
        icon: "upload",
        hint: t("This version is found until the new one is ready"),
        action: () => this.#pick(one),
      },
      ...(one.url
        ? []
        : [{ label: t("Replace the text"), icon: /** @type {const} */ ("edit"), action: () => change(rewrite) }]),
      { label: t("Delete"), icon: "trash", isDangerous: true, action: () => this.#remove(one) },
    ];
  }

  /** @param {KnowledgeDocument|null} changed null: cancelled */
  #put(changed) {
    if (changed) this.#open.put(changed);
  }

  /** @param {KnowledgeDocument|null} replaced null: new documents */
  #pick(replaced) {
    this.replaced = replaced;
    this.input.multiple = replaced === null;
    this.input.click();
  }

  #picked() {
    const files = [...this.input.files];
    const { base, replaced } = this;
    this.input.value = ""; // the same file may be picked again
    if (!replaced) this.#open.upload(files);
    else if (files.length > 0)
      void this.page.attempt(async () => this.#put(await uploadVersion(base.id, replaced.id, files[0]).done));
  }

  /** @param {KnowledgeDocument} one */
  async #remove(one) {
    const list = this.#open;
    const what = h("p", {}, t("“%(title)s” is deleted for good, and is no longer found.", { title: one.title }));
    if (!(await ask(t("Delete this document?"), { yes: t("Delete") }, what))) return;
    if (await this.page.attempt(() => deleteDocument(list.base, one.id).catch(unlessGone))) list.remove(one.id);
  }
}

// One document in the list of its base, or an upload that is becoming one.
const ICONS = /** @type {const} */ ({ image: "image", tabular: "table", text: "file" });

class DocumentRow {
  /**
   * @param {object} actions
   * @param {(document: KnowledgeDocument) => void} actions.open
   * @param {(document: KnowledgeDocument) => MenuItem[]} actions.items
   * @param {(key: string) => void} actions.retry
   * @param {(key: string) => void} actions.cancel
   */
  constructor(actions) {
    /** @type {FileEntry|undefined} */
    this.entry = undefined;
    /** @type {KnowledgeDocument|undefined} */
    this.document = undefined;
    this.mark = h("span", { class: "mark" });
    this.name = h("span", { class: "title" });
    this.note = h("small", { class: "note" });
    this.open = h(
      "button",
      { type: "button", class: "whole", onclick: () => actions.open(this.document) },
      this.mark,
      h("span", { class: "face" }, this.name, this.note),
    );
    this.progress = h("progress", { class: "file-progress", max: 1 });
    this.again = h(
      "button",
      { type: "button", class: "icon-button", title: t("Try again"), onclick: () => actions.retry(this.entry.key) },
      icon("retry"),
    );
    this.away = h(
      "button",
      { type: "button", class: "icon-button", onclick: () => actions.cancel(this.entry.key) },
      icon("close"),
    );
    this.menu = menuButton("", () => actions.items(this.document));
    this.element = h("li", {}, this.open, this.again, this.away, this.menu, this.progress);
  }

  /** @param {FileEntry} entry @param {KnowledgeDocument|undefined} document @param {boolean} isMine  the user may change it */
  show(entry, document, isMine) {
    [this.entry, this.document] = [entry, document];
    const { name, state, kind, canRetry } = entry;
    const label = visibleText(name);
    this.element.dataset.state = state;
    if (this.mark.dataset.kind !== kind) this.mark.replaceChildren(icon(ICONS[kind] ?? "file"));
    this.mark.dataset.kind = kind;
    showText(this.name, name);
    this.name.title = label;
    this.note.textContent = [hostOf(document?.url), stateText(entry)].filter(Boolean).join(" · ");
    this.open.disabled = state !== "ready";
    this.progress.hidden = state !== "uploading";
    this.progress.value = entry.progress;
    this.progress.setAttribute("aria-label", t("Upload of %(name)s", { name: label }));
    this.again.hidden = Boolean(document) || !canRetry;
    this.again.setAttribute("aria-label", t("Try again: %(name)s", { name: label }));
    this.away.hidden = Boolean(document);
    this.away.title = state === "failed" ? t("Remove") : t("Cancel");
    this.away.setAttribute("aria-label", t("Remove: %(what)s", { what: label }));
    this.menu.hidden = !document || !isMine;
    this.menu.title = t("Actions");
    this.menu.setAttribute("aria-label", t("Actions for “%(title)s”", { title: label }));
  }
}

/** @param {string} base */
function addText(base) {
  const fields = textFields("", "");
  return askFor(t("Add a text"), {
    yes: t("Add"),
    fields,
    look: "large form",
    save: (values) => addDocument(base, values),
  });
}

/** @param {string} base */
function addAddress(base) {
  const fields = {
    url: line(
      t("Address"),
      { type: "url", required: true, placeholder: "https://", maxLength: 2000 },
      t("The page is read once, without logging in."),
    ),
    title: line(t("Title"), { maxLength: LONGEST_TITLE }, t("Left empty: that of the page.")),
  };
  return askFor(t("Add a web page"), {
    yes: t("Add"),
    fields,
    save: ({ url, title }) => addDocument(base, { url, ...(title ? { title } : {}) }),
  });
}

/** @param {string} base @param {KnowledgeDocument} document */
function rename(base, { id, title }) {
  const fields = { title: line(t("Title"), { maxLength: LONGEST_TITLE, required: true, value: title }) };
  return askFor(t("Rename this document"), {
    yes: t("Rename"),
    fields,
    save: (values) => renameDocument(base, id, values.title),
  });
}

/** @param {string} base @param {KnowledgeDocument} document */
async function rewrite(base, { id, title }) {
  // While a new version is being read, the one before is served.
  const before = await readText(documentAt(base, id)).catch((error) => {
    if (error.code === "file_processing" || error.code === "file_failed") return "";
    throw error;
  });
  const fields = textFields(title, before);
  return askFor(t("Replace the text"), {
    yes: t("Save"),
    fields,
    look: "large form",
    save: (values) => replaceDocument(base, id, values),
  });
}

/** @param {string} title @param {string} value */
function textFields(title, value) {
  return {
    title: line(t("Title"), { maxLength: LONGEST_TITLE, required: true, value: title }),
    text: text(t("Text"), { rows: 14, required: true, value }),
  };
}
