/**
 * Accepts files by the button, drag and drop, or paste, and dispatches them as the event `files` on the form (a
 * CustomEvent; `detail` is a File[]). Disabled unless the form has `data-takes-files`.
 */

export class FileInput {
  /** @param {HTMLFormElement} form the composer */
  constructor(form) {
    this.form = form;
    const input = /** @type {HTMLInputElement} */ (form.querySelector("input[type=file]"));
    form.querySelector("[data-attach]").addEventListener("click", () => input.click());
    input.addEventListener("change", () => {
      this.#take(input.files);
      input.value = ""; // the same file may be chosen again
    });
    form.addEventListener("paste", (event) => this.#paste(event));
    // On the whole page, even if files are not accepted: the browser would open the dropped file instead.
    addEventListener("dragover", (event) => this.#over(event));
    addEventListener("drop", (event) => this.#drop(event));
    addEventListener("dragleave", (event) => event.relatedTarget === null && this.#mark(false));
  }

  get isOpen() {
    return "takesFiles" in this.form.dataset;
  }

  /** @param {ClipboardEvent} event */
  #paste(event) {
    const data = event.clipboardData;
    // Office programs add a picture to copied text: then the text is pasted.
    if (!this.isOpen || !data?.files.length || data.types.includes("text/plain")) return;
    event.preventDefault();
    this.#take(data.files);
  }

  /** @param {DragEvent} event */
  #over(event) {
    if (!hasFiles(event)) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = this.isOpen ? "copy" : "none";
    this.#mark(this.isOpen);
  }

  /** @param {DragEvent} event */
  #drop(event) {
    if (!hasFiles(event)) return;
    event.preventDefault();
    this.#mark(false);
    if (this.isOpen) this.#take(event.dataTransfer.files);
  }

  /** @param {boolean} isOver */
  #mark(isOver) {
    this.form.classList.toggle("over", isOver);
  }

  /** @param {FileList} files */
  #take(files) {
    if (files.length) this.form.dispatchEvent(new CustomEvent("files", { detail: [...files] }));
  }
}

/** @param {DragEvent} event */
const hasFiles = (event) => event.dataTransfer?.types.includes("Files") ?? false;
