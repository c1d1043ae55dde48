/** The page of one project: its instructions, its files and its chats. The composer below begins a chat in it. */

import { ASK_INDEXING_MS } from "../knowledge/knowledge_store.js";
import { ProjectFiles } from "./project_files.js";
import { h } from "../elements/element.js";
import { t } from "../i18n.js";
import { SessionList } from "../sessions/session_list.js";
import { SessionStore } from "../sessions/session_store.js";
import { autosize, isComposing } from "../elements/text_field.js";

/** @import {ListActions} from "../sessions/session_list.js" */
/** @import {Model, Project} from "../types.js" */

export class ProjectView {
  /**
   * @param {HTMLElement} element scrolls
   * @param {object} page
   * @param {ListActions} page.chats
   * @param {(project: string, instructions: string) => Promise<boolean>} page.save
   * @param {(project: string) => Promise<void>} page.read
   * @param {() => Model[]} page.models
   * @param {(text: string) => void} page.announce
   * @param {(action: () => Promise<any>) => Promise<boolean>} page.attempt
   * @param {(error: any) => void} page.failed
   */
  constructor(element, page) {
    this.element = element;
    this.read = page.read;
    this.timer = 0;
    this.instructions = new InstructionsForm(page.save);
    this.files = new ProjectFiles(page);
    this.chats = new ProjectChats(element, page.chats, page.failed);
    // The chats last: they may be many.
    element.append(this.instructions.element, this.files.element, this.chats.element);
  }

  /** @param {Project} project */
  show(project) {
    if (this.element.hidden) this.element.scrollTop = 0;
    this.element.hidden = false;
    this.instructions.show(project);
    this.files.show(project);
    this.chats.open(project.id);
    clearTimeout(this.timer);
    if (project.indexing.waiting) this.timer = setTimeout(() => this.read(project.id), ASK_INDEXING_MS);
  }

  hide() {
    this.element.hidden = true;
    clearTimeout(this.timer);
  }

  /** @param {wire.Frame} frame */
  receive(frame) {
    this.files.receive(frame);
    this.chats.receive(frame);
    if (frame.type === "project_deleted") this.instructions.forget(frame.project);
  }
}

/** The chats of a project, as the list of all chats shows them. */
class ProjectChats {
  /** @param {HTMLElement} scroller @param {ListActions} actions @param {(error: any) => void} failed */
  constructor(scroller, actions, failed) {
    this.scroller = scroller;
    this.actions = actions;
    this.failed = failed;
    this.project = "";
    this.place = h("div", { class: "session-list" });
    this.none = h("p", { class: "hint", hidden: true }, t("None yet. What you write below begins one."));
    this.element = h(
      "section",
      { class: "project-part", "aria-label": t("Chats of this project") },
      h("h2", {}, t("Chats")),
      this.none,
      this.place,
    );
  }

  /** @param {string} project */
  open(project) {
    if (this.project === project) return;
    this.project = project;
    this.place.replaceChildren();
    this.none.hidden = true;
    const store = new SessionStore({ changed: () => this.#changed(store), failed: this.failed }, { project });
    this.store = store;
    this.list = new SessionList(this.place, store, this.actions, this.scroller);
    void store.refresh();
  }

  /** @param {wire.Frame} frame */
  receive(frame) {
    this.store?.receive(frame);
  }

  /** @param {SessionStore} store */
  #changed(store) {
    if (store !== this.store) return;
    this.list.show(null);
    const { pinned, sessions } = store.shown;
    this.none.hidden = pinned.length + sessions.length > 0;
  }
}

/** The server's limit. */
const LONGEST = 100_000;

/** The instructions of a project, edited in place. What is not saved is kept while the page is open. */
class InstructionsForm {
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

  /** It was deleted. @param {string} project */
  forget(project) {
    this.unsaved.delete(project);
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
