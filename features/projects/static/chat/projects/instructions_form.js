/** The instructions of a project, edited in place. What is not saved is kept while the page is open. */

import { autosize, isComposing } from "../elements/text_field.js";
import { h } from "../elements/element.js";
import { t } from "../i18n.js";

/** @import {Project} from "../types.js" */

/** The server's limit. */
const LONGEST = 100_000;

export class InstructionsForm {
  /** @param {(project: string, instructions: string) => Promise<boolean>} save whether it was accepted */
  constructor(save) {
    this.save = save;
    /** @type {Project|null} */
    this.project = null;
    /** By project. @type {Map<string, string>} */
    this.unsaved = new Map();
    this.field = h("textarea", {
      id: "project-instructions",
      rows: 3,
      maxLength: LONGEST,
      "aria-describedby": "project-instructions-hint",
      placeholder: t("What the models should know and heed in every chat of this project"),
    });
    const cancel = h("button", { type: "button", onclick: () => this.#discard() }, t("Cancel"));
    this.row = h(
      "div",
      { class: "row", hidden: true },
      cancel,
      h("button", { type: "submit", class: "primary" }, t("Save")),
    );
    const heading = h("h2", {}, h("label", { htmlFor: this.field.id }, t("Instructions")));
    const hint = h(
      "p",
      { class: "hint", id: "project-instructions-hint" },
      t("An agent with a prompt of its own is told its prompt instead."),
    );
    this.element = h(
      "form",
      { class: "project-part", onsubmit: (/** @type {Event} */ event) => this.#submit(event) },
      heading,
      this.field,
      hint,
      this.row,
    );
    this.resize = autosize(this.field);
    this.field.addEventListener("input", () => this.#onEdit());
    this.field.addEventListener("keydown", (event) => this.#key(event));
    addEventListener("beforeunload", (event) => this.unsaved.size > 0 && event.preventDefault());
  }

  /** @param {Project} project */
  show(project) {
    const isOther = project.id !== this.project?.id;
    this.project = project;
    const text = this.unsaved.get(project.id) ?? project.instructions;
    // While it is edited the field is right.
    if (isOther || !this.unsaved.has(project.id)) this.#set(text);
    this.#showState();
  }

  /** @param {string} text */
  #set(text) {
    if (this.field.value === text) return;
    this.field.value = text;
    this.resize();
  }

  #onEdit() {
    const { id, instructions } = this.project;
    if (this.field.value === instructions) this.unsaved.delete(id);
    else this.unsaved.set(id, this.field.value);
    this.#showState();
  }

  /** @param {Event} [event] */
  async #submit(event) {
    event?.preventDefault();
    const { id } = this.project;
    const text = this.field.value;
    if (!this.unsaved.has(id) || !(await this.save(id, text))) return;
    if (this.unsaved.get(id) === text) this.unsaved.delete(id);
    this.#showState();
  }

  #discard() {
    this.unsaved.delete(this.project.id);
    this.#set(this.project.instructions);
    this.#showState();
    this.field.focus();
  }

  /** Ctrl+Enter saves. @param {KeyboardEvent} event */
  #key(event) {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || isComposing(event)) return;
    event.preventDefault();
    void this.#submit();
  }

  #showState() {
    const isChanged = this.unsaved.has(this.project.id);
    const hadFocus = this.row.contains(document.activeElement);
    this.row.hidden = !isChanged;
    // Other tabs' changes of settings wait for it (preferences.js).
    this.element.toggleAttribute("data-unsaved", isChanged);
    if (hadFocus && !isChanged) this.field.focus();
  }
}
