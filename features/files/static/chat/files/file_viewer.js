/**
 * A dialog that shows a file: a picture as it is, a PDF in the browser's own viewer, and of all others the text that models
 * read, at the passage that was cited and the page that it is on. What the browser cannot show is downloaded.
 */

import { contentAddress, fileAt, readContent, readText } from "./files.js";
import { call } from "../server/api.js";
import { dialog, open } from "../elements/dialogs.js";
import { h } from "../elements/element.js";
import { icon } from "../elements/icons.js";
import { byteText } from "../answer/api_error_texts.js";
import { language, t } from "../i18n.js";
import { fileErrorText, kindText, rowsText, tokenText } from "./file_entry.js";
import { closestSentence, findPassage, PAGE_BREAK, pageAt } from "./passage.js";

/** @import {Passage, Place} from "./passage.js" */
/** @import {FileInfo} from "../types.js" */

const PDF = "application/pdf";
/** A longer text is shown in parts: a browser takes long to lay out millions of characters. */
const PART_CHARACTERS = 100_000;

/**
 * @typedef {object} ViewedFile
 * @property {string} id
 * @property {string} name
 * @property {string} [at]  its path below /api/; left out: it is a file, or a document of any of the user's knowledge bases
 * @property {Passage} [passage]  to be marked in its text
 */

export class FileViewer {
  /** @param {ViewedFile} file */
  constructor({ id, name, at, passage }) {
    this.id = id;
    this.at = at ?? fileAt(id);
    this.isPlaceKnown = at !== undefined;
    this.passage = passage;
    this.isPdf = false;
    /** The page of the passage, once the text was read. @type {number|null} */
    this.page = null;
    /** What to revoke. */
    this.address = "";
    this.isClosed = false;
    /** How often a view was chosen: one that is read meanwhile is not shown. */
    this.view = 0;
    this.facts = h("p", { class: "hint" });
    this.views = h("div", { class: "view-choice", role: "group", "aria-label": t("View"), hidden: true });
    /** @type {FileInfo|undefined} */
    this.info = undefined;
    this.download = h(
      "a",
      { class: "download", href: contentAddress(this.at), download: name, hidden: true },
      icon("download"),
      t("Download"),
    );
    this.body = h(
      "div",
      { class: "file-body", "aria-busy": "true" },
      h("p", { class: "hint", role: "status" }, t("Loading…")),
    );
    const bar = h("div", { class: "viewer-bar" }, this.facts, this.views, this.download);
    open(dialog(name, { class: "large file-viewer", closed: () => this.#closed() }, bar, this.body));
    void this.#load();
  }

  async #load() {
    try {
      const info = await this.#read();
      if (this.isClosed) return;
      this.download.href = contentAddress(this.at);
      this.download.hidden = false;
      this.info = info;
      this.isPdf = info.content_type === PDF;
      this.#showFacts();
      // Of a document whose new version has failed, the one before is still found.
      if (info.status === "failed") await this.#text().catch(() => this.#problem(info.error));
      else if (info.kind === "image") this.#picture(info);
      else if (this.isPdf && navigator.pdfViewerEnabled) this.#choice();
      else await this.#text();
    } catch (error) {
      this.#problem(error);
    }
  }

  /** @returns {Promise<FileInfo>} */
  async #read() {
    const read = async () => {
      const info = await call("GET", this.at);
      return { ...info, name: info.name ?? info.title };
    };
    if (this.isPlaceKnown) return read();
    try {
      return await read();
    } catch (error) {
      if (error.status !== 404) throw error;
      const { placeOfDocument } = await import("../knowledge/knowledge_store.js");
      this.at = (await placeOfDocument(this.id)) ?? this.at;
      return read();
    }
  }

  #showFacts() {
    const { info, page } = this;
    const { size, width, height, token_count: tokens, table_rows: rows = 0, shown_rows: shown = 0 } = info;
    const pixels = width && height ? `${width.toLocaleString(language)} × ${height.toLocaleString(language)}` : "";
    this.facts.textContent = [
      kindText(info),
      byteText(size),
      pixels,
      tokens > 0 && tokenText(tokens),
      rowsText(shown, rows),
      page && pageText(page),
    ]
      .filter(Boolean)
      .join(" · ");
  }

  /** Between the pages of a document and its text. */
  #choice() {
    const pages = { [t("Pages")]: () => this.#pages() };
    const text = { [t("Text")]: () => this.#text() };
    // A passage is marked in the text.
    const views = this.passage ? { ...text, ...pages } : { ...pages, ...text };
    const buttons = Object.entries(views).map(([label, show]) => {
      const button = h(
        "button",
        { type: "button", class: "small", "aria-pressed": "false", onclick: () => choose(button, show) },
        label,
      );
      return button;
    });
    /** @param {HTMLElement} chosen @param {() => Promise<void>} show */
    const choose = (chosen, show) => {
      const view = (this.view += 1);
      buttons.forEach((button) => button.setAttribute("aria-pressed", String(button === chosen)));
      show().catch((error) => view === this.view && this.#problem(error));
    };
    this.views.replaceChildren(...buttons);
    this.views.hidden = false;
    buttons[0].click();
  }

  async #pages() {
    const { view } = this;
    if (!this.address) {
      const content = await readContent(this.at);
      if (this.isClosed) return;
      // Of this type whatever the server says: nothing else may be shown as a document of the page's origin.
      this.address ||= URL.createObjectURL(new Blob([content], { type: PDF }));
    }
    if (view !== this.view) return;
    this.#show(
      h("iframe", {
        class: "file-pages",
        src: this.address + (this.page ? `#page=${this.page}` : ""),
        title: t("Pages"),
      }),
    );
  }

  async #text() {
    const { view } = this;
    const text = await readText(this.at);
    if (this.isClosed || view !== this.view) return;
    if (!text.trim()) return this.#show(h("p", { class: "hint" }, t("There is no text in this file.")));
    const { elements, place, shown } = textView(text, { passage: this.passage, hasPages: this.isPdf });
    this.page = place && this.isPdf ? pageAt(text, place.from) : null;
    this.#showFacts();
    this.#show(...elements);
    shown();
  }

  /** @param {FileInfo} info */
  #picture({ name, width, height }) {
    const failed = () => this.#problem({ code: "file_not_found" });
    this.#show(
      h("img", { class: "file-image", src: contentAddress(this.at), alt: name, width, height, onerror: failed }),
    );
  }

  /** @param {import("./file_entry.js").FileProblem} error */
  #problem(error) {
    if (!this.isClosed) this.#show(h("p", { class: "problem", role: "alert" }, fileErrorText(error)));
  }

  /** @param {...HTMLElement} content */
  #show(...content) {
    this.body.replaceChildren(...content);
    this.body.ariaBusy = "false";
  }

  #closed() {
    this.isClosed = true;
    if (this.address) URL.revokeObjectURL(this.address);
  }
}

/**
 * The text of a file, in parts, with a passage marked and scrolled to, and the beginnings of pages named.
 * @param {string} text
 * @param {{passage?: Passage, hasPages?: boolean}} options  hasPages: form feeds stand between its pages
 * @returns {{elements: HTMLElement[], place: Place|null, shown: () => void}} place: of the passage; shown: to be called once they are in the document
 */
function textView(text, { passage, hasPages = false }) {
  const found = passage ? findPassage(text, passage) : null;
  /** @param {number} from @param {number} to */
  const part = (from, to) => (hasPages ? withPages(text, from, to) : [text.slice(from, to)]);
  let [start, end] = found
    ? [
        Math.max(0, found.from - PART_CHARACTERS / 2),
        Math.max(found.to, Math.min(text.length, found.from + PART_CHARACTERS / 2)),
      ]
    : [0, Math.min(text.length, PART_CHARACTERS)];
  const body = h("pre", { class: "file-text", tabIndex: 0, role: "region", "aria-label": t("Text") });
  const sentence = found && sentenceIn(text, found, passage.statement ?? "");
  const marked = sentence && h("strong", { class: "sentence" }, ...part(sentence.from, sentence.to));
  const mark =
    found &&
    h(
      "mark",
      { id: "passage" },
      ...(marked
        ? [...part(found.from, sentence.from), marked, ...part(sentence.to, found.to)]
        : part(found.from, found.to)),
    );
  if (mark) body.append(...part(start, found.from), mark, ...part(found.to, end));
  else body.append(...part(start, end));
  const above = h("button", { type: "button", class: "small", onclick: () => showAbove() }, t("Show what is above"));
  const more = h("button", { type: "button", class: "small", onclick: () => showMore() }, t("Show more"));
  const place = () => {
    above.hidden = start === 0;
    more.hidden = end >= text.length;
  };
  const showMore = () => {
    body.append(...part(end, (end += PART_CHARACTERS)));
    place();
  };
  const showAbove = () => {
    const height = body.scrollHeight;
    const from = Math.max(0, start - PART_CHARACTERS);
    body.prepend(...part(from, start));
    start = from;
    body.scrollTop += body.scrollHeight - height;
    place();
  };
  place();
  const note =
    passage && !found
      ? [h("p", { class: "hint", role: "status" }, t("The passage is not in this version of the text."))]
      : [];
  return {
    elements: [...note, above, body, more],
    place: found,
    shown: () => (marked ?? mark)?.scrollIntoView({ block: isLong(marked ?? mark, body) ? "start" : "center" }),
  };
}

/** @param {string} text @param {Place} passage @param {string} statement @returns {Place|null} */
function sentenceIn(text, { from, to }, statement) {
  const at = closestSentence(text.slice(from, to), statement);
  return at && { from: from + at.from, to: from + at.to };
}

/** Whether the middle of a passage would be shown without its beginning. @param {HTMLElement} mark @param {HTMLElement} body */
const isLong = (mark, body) => mark.getBoundingClientRect().height > body.clientHeight;

/** A part of the text, with the numbers of the pages that begin in it. @param {string} text @param {number} from @param {number} to */
function withPages(text, from, to) {
  const before = pageAt(text, from) ?? 1;
  const pages = text.slice(from, to).split(PAGE_BREAK);
  return pages.flatMap((page, i) =>
    i === 0 ? [page] : [h("span", { class: "page-break" }, pageText(before + i)), page],
  );
}

/** @param {number} page */
const pageText = (page) => t("Page %(page)s", { page });
