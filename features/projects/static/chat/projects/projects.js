/** Connects the parts of projects: the store, the list in the sidebar, the page of one, and what is done with them. */

import { ProjectActions, changeProject, readProject, readProjects } from "./project_actions.js";
import { ProjectList } from "./project_list.js";
import { ListStore } from "../server/list_store.js";

/** @import {ProjectView} from "./project_view.js" */
/** @import {ListActions} from "../sessions/session_list.js" */
/** @import {Model, Project} from "../types.js" */

/** The user's projects with their files. @extends {ListStore<Project>} */
export class ProjectStore extends ListStore {
  /** @param {{changed: () => void, failed: (error: Error) => void}} listener */
  constructor(listener) {
    super({ all: readProjects, one: readProject }, listener);
  }

  get projects() {
    return this.rows;
  }

  /** One object from the socket. @param {wire.Frame} frame */
  receive(frame) {
    if (frame.type === "sessions_watched" || frame.type === "sessions_resync") void this.refresh();
    else if (frame.type === "project_changed") void this.read(frame.project);
    else if (frame.type === "project_deleted") this.remove(frame.project);
    // Its size and what fits have changed.
    else if (frame.type === "file" && frame.project) void this.read(frame.project);
  }
}

export class Projects {
  /**
   * @param {{nav: HTMLElement, view: HTMLElement}} parts
   * @param {object} page
   * @param {() => ListActions} page.chats
   * @param {() => string|null} page.openChat  the id of the open chat
   * @param {() => Model[]} page.models
   * @param {(project: string) => void} page.open
   * @param {() => void} page.gone  the open project was deleted, here or elsewhere
   * @param {(session: string, project: string|null) => void} page.moved
   * @param {() => void} page.changed
   * @param {(text: string) => void} page.announce
   * @param {(action: () => Promise<any>) => Promise<boolean>} page.attempt
   * @param {(error: any) => void} page.failed
   */
  constructor(parts, page) {
    this.parts = parts;
    this.page = page;
    /** The id of the one whose page is shown. @type {string|null} */
    this.open = null;
    this.store = new ProjectStore({ changed: () => this.#changed(), failed: page.failed });
    this.actions = new ProjectActions(this.store, page);
    this.list = new ProjectList(parts.nav, this.actions, page);
    this.list.show([], null, null);
    /** Loaded when the first page is shown. @type {ProjectView|null} */
    this.view = null;
    /** @type {Promise<void>|null} */
    this.loading = null;
  }

  /** The open one, once it is known. */
  get current() {
    return this.store.get(this.open);
  }

  /** @param {string|null} id null: a chat is shown */
  show(id) {
    this.open = id;
    this.#changed();
  }

  /** Draws again with the models that are offered now. */
  redraw() {
    this.#changed();
  }

  /** One object from the socket. @param {wire.Frame} frame */
  receive(frame) {
    this.store.receive(frame);
    this.list.receive(frame);
    this.view?.receive(frame);
  }

  reconnected() {
    this.view?.files.reconnected();
  }

  #changed() {
    const { projects } = this.store;
    this.list.show(projects ?? [], this.open, this.page.openChat());
    const isGone = this.open !== null && projects !== null && !this.current;
    if (isGone) return this.page.gone();
    if (!this.current) this.view?.hide();
    else if (this.view) this.view.show(this.current);
    else this.loading ??= this.#load();
    this.page.changed();
  }

  async #load() {
    const module = await import("./project_view.js").catch(() => /** @type {any} */ (null));
    this.loading = null;
    if (!module) return this.page.failed({ status: 0, code: "unreachable" });
    this.view = this.#createView(module.ProjectView);
    this.#changed();
  }

  /** @param {typeof ProjectView} View */
  #createView(View) {
    const { page } = this;
    const save = (/** @type {string} */ id, /** @type {string} */ instructions) =>
      page.attempt(async () => this.store.put(await changeProject(id, { instructions })));
    return new View(this.parts.view, {
      ...page,
      chats: page.chats(),
      save,
      read: (/** @type {string} */ id) => this.store.read(id),
    });
  }
}
