/** The page of one project: its instructions, its files and its chats. The composer below begins a chat in it. */

import { ASK_INDEXING_MS } from "../knowledge/knowledge_texts.js";
import { InstructionsForm } from "./instructions_form.js";
import { ProjectFiles } from "./project_files.js";
import { h } from "../elements/element.js";
import { t } from "../i18n.js";
import { SessionList } from "../sessions/session_list.js";
import { SessionStore } from "../sessions/session_store.js";

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
    this.none.hidden = store.shown.sessions.length > 0;
  }
}
