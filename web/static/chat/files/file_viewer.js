/**
 * A dialog that shows a file: a picture as it is, a PDF in the browser's own viewer, and of all others the text that models
 * read. What the browser cannot show is downloaded.
 */

import { contentAddress, readContent, readFile, readText } from "../server/files_api.js";
import { dialog, open } from "../elements/dialogs.js";
import { h } from "../elements/element.js";
import { icon } from "../elements/icons.js";
import { byteText } from "../answer/api_error_texts.js";
import { language, t } from "../i18n.js";
import { fileErrorText, kindText, tokenText } from "./file_texts.js";

/** @import {FileInfo} from "../types.js" */

const PDF = "application/pdf";
/** A longer text is shown in parts: a browser takes long to lay out millions of characters. */
const PART_CHARACTERS = 100_000;

export class FileViewer {
  /** @param {string} id @param {string} name */
  constructor(id, name) {
    this.id = id;
    /** What to revoke. */
    this.address = "";
    this.isClosed = false;
    this.facts = h("p", { class: "hint" });
    this.views = h("div", { class: "view-choice", role: "group", "aria-label": t("View"), hidden: true });
    const download = h("a", { class: "download", href: contentAddress(id), download: name }, icon("download"), t("Download"));
    this.body = h("div", { class: "file-body", "aria-busy": "true" }, h("p", { class: "hint", role: "status" }, t("Loading…")));
    const bar = h("div", { class: "viewer-bar" }, this.facts, this.views, download);
    open(dialog(name, { class: "large file-viewer", closed: () => this.#closed() }, bar, this.body));
    void this.#load();
  }

  async #load() {
    try {
      const info = await readFile(this.id);
      if (this.isClosed) return;
      this.#showFacts(info);
      if (info.status === "failed") this.#problem(info.error);
      else if (info.kind === "image") this.#picture(info);
      else if (info.content_type === PDF && navigator.pdfViewerEnabled) this.#choice();
      else await this.#text();
    } catch (error) {
      this.#problem(error);
    }
  }

  /** @param {FileInfo} info */
  #showFacts(info) {
    const { size, width, height, token_count: tokens } = info;
    const pixels = width && height ? `${width.toLocaleString(language)} × ${height.toLocaleString(language)}` : "";
    this.facts.textContent = [kindText(info), byteText(size), pixels, tokens > 0 && tokenText(tokens)].filter(Boolean).join(" · ");
  }

  /** Between the pages of a document and its text. */
  #choice() {
    const views = { [t("Pages")]: () => this.#pages(), [t("Text")]: () => this.#text() };
    const buttons = Object.entries(views).map(([label, show]) => {
      const button = h("button", { type: "button", class: "small", "aria-pressed": "false", onclick: () => choose(button, show) }, label);
      return button;
    });
    /** @param {HTMLElement} chosen @param {() => Promise<void>} show */
    const choose = (chosen, show) => {
      buttons.forEach((button) => button.setAttribute("aria-pressed", String(button === chosen)));
      show().catch((error) => this.#problem(error));
    };
    this.views.replaceChildren(...buttons);
    this.views.hidden = false;
    buttons[0].click();
  }

  async #pages() {
    if (!this.address) {
      const content = await readContent(this.id);
      if (this.isClosed) return;
      // Of this type whatever the server says: nothing else may be shown as a document of the page's origin.
      this.address = URL.createObjectURL(new Blob([content], { type: PDF }));
    }
    this.#show(h("iframe", { class: "file-pages", src: this.address, title: t("Pages") }));
  }

  async #text() {
    const text = await readText(this.id);
    if (this.isClosed) return;
    if (!text.trim()) return this.#show(h("p", { class: "hint" }, t("There is no text in this file.")));
    const shown = h("pre", { class: "file-text", tabIndex: 0, role: "region", "aria-label": t("Text") });
    const more = h("button", { type: "button", class: "small", onclick: () => showPart() }, t("Show more"));
    let end = 0;
    const showPart = () => {
      shown.append(text.slice(end, (end += PART_CHARACTERS)));
      more.hidden = end >= text.length;
    };
    showPart();
    this.#show(shown, more);
  }

  /** @param {FileInfo} info */
  #picture({ name, width, height }) {
    const failed = () => this.#problem({ code: "file_not_found" });
    this.#show(h("img", { class: "file-image", src: contentAddress(this.id), alt: name, width, height, onerror: failed }));
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
