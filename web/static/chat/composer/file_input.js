/** Takes files in: by the button, by drag and drop anywhere on the page, and by paste. */

import { h } from "../elements/element.js";
import { icon } from "../elements/icons.js";
import { t } from "../i18n.js";

export class FileInput {
  /** @param {HTMLFormElement} form the composer @param {(files: File[]) => void} take */
  constructor(form, take) {
    this.take = take;
    this.target = h("div", { class: "drop-target", hidden: true }, icon("upload"), t("Drop files to attach them"));
    form.parentElement.append(this.target);
    const input = /** @type {HTMLInputElement} */ (form.querySelector("input[type=file]"));
    form.querySelector("[data-attach]").addEventListener("click", () => input.click());
    input.addEventListener("change", () => {
      this.#take(input.files);
      input.value = ""; // the same file may be chosen again
    });
    form.addEventListener("paste", (event) => this.#paste(event));
    // On the whole page: the browser would open the dropped file instead.
    addEventListener("dragover", (event) => this.#over(event));
    addEventListener("drop", (event) => this.#drop(event));
    // Before other targets of drops, which stop the event.
    for (const type of /** @type {const} */ (["dragover", "drop"]))
      addEventListener(type, () => this.#mark(false), true);
    addEventListener("dragleave", (event) => event.relatedTarget === null && this.#mark(false));
  }

  /** @param {ClipboardEvent} event */
  #paste(event) {
    const data = event.clipboardData;
    // Office programs add a picture to copied text: then the text is pasted.
    if (!data?.files.length || data.types.includes("text/plain")) return;
    event.preventDefault();
    this.#take(data.files);
  }

  /** @param {DragEvent} event */
  #over(event) {
    if (!hasFiles(event) || event.defaultPrevented) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = isCovered() ? "none" : "copy";
    this.#mark(!isCovered());
  }

  /** @param {DragEvent} event */
  #drop(event) {
    if (!hasFiles(event) || event.defaultPrevented) return;
    event.preventDefault();
    if (!isCovered()) this.#take(event.dataTransfer.files);
  }

  /** @param {boolean} isOver */
  #mark(isOver) {
    this.target.hidden = !isOver;
  }

  /** @param {FileList} files */
  #take(files) {
    if (files.length) this.take([...files]);
  }
}

/** @param {DragEvent} event */
const hasFiles = (event) => event.dataTransfer?.types.includes("Files") ?? false;

/** Whether a dialog is open: files dropped on it are not meant for the message. */
const isCovered = () => document.querySelector("dialog:modal") !== null;
