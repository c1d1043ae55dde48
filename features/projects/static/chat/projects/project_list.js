/** The section of projects in the sidebar: a heading that folds it, a button for a new one, and a folder for each. */

import { h, setChildren } from "../elements/element.js";
import { icon, iconButton } from "../elements/icons.js";
import { sideKeys, t } from "../i18n.js";
import { onListKeys, onDroppedSession } from "../sessions/list_input.js";
import { projectAddress } from "../frame/address.js";
import { menuButton } from "../elements/menu.js";
import { SessionList } from "../sessions/session_list.js";
import { SessionStore } from "../sessions/session_store.js";

/** @import {ListActions} from "../sessions/session_list.js" */
/** @import {Project} from "../types.js" */
/** @import {ProjectActions} from "./project_actions.js" */
/** @import {MenuItem} from "../elements/menu.js" */

const KEPT_AS = "turnwire.projects";
const UNFOLDED_KEPT_AS = "turnwire.folders";
/** The oldest ones are forgotten: they may be of projects that are gone, or of other users of this browser. */
const MOST_UNFOLDED = 100;

export class ProjectList {
  /**
   * @param {HTMLElement} nav
   * @param {ProjectActions} actions
   * @param {{chats: () => ListActions, failed: (error: any) => void}} page
   */
  constructor(nav, actions, page) {
    this.nav = nav;
    this.actions = actions;
    this.page = page;
    this.unfolded = new UnfoldedProjects(localStorage);
    /** @type {Map<string, ProjectRow>} */
    this.rows = new Map();
    /** The row that the Tab key focuses. @type {string|null} */
    this.tabStop = null;
    this.isFolded = localStorage.getItem(KEPT_AS) === "folded";
    this.list = h("ul", { id: "project-list", "aria-label": t("Projects") });
    this.toggle = h(
      "button",
      { type: "button", class: "fold", "aria-controls": this.list.id, onclick: () => this.#fold() },
      icon("chevronRight"),
      t("Projects"),
    );
    const create = iconButton(t("New project"), "plus", () => actions.create());
    nav.append(h("div", { class: "line" }, h("h2", {}, this.toggle), create), this.list);
    onListKeys(this.list, {
      rename: (id) => this.#act(id, (project) => actions.rename(project)),
      remove: (id) => this.#act(id, (project) => actions.remove(project)),
    });
    this.list.addEventListener("focusin", (event) => this.#moveTabStop(this.#idOf(event.target)));
    this.list.addEventListener("keydown", (event) => this.#foldByKey(event));
    this.#showFolded();
  }

  /** @param {Project[]} projects @param {string|null} open the id of the open project @param {string|null} openChat that of the open chat */
  show(projects, open, openChat) {
    const focused = this.list.contains(document.activeElement)
      ? /** @type {HTMLElement} */ (document.activeElement)
      : null;
    const ids = new Set(projects.map(({ id }) => id));
    for (const id of this.rows.keys()) if (!ids.has(id)) this.rows.delete(id);
    setChildren(
      this.list,
      projects.map((project) => this.#row(project, { isOpen: project.id === open, openChat })),
    );
    if (!ids.has(this.tabStop)) this.#moveTabStop(open && ids.has(open) ? open : (projects[0]?.id ?? null));
    // Moving an element in the document removes the focus from it.
    if (focused?.isConnected && document.activeElement !== focused) focused.focus();
    this.list.hidden = this.isFolded || projects.length === 0;
    this.toggle.disabled = projects.length === 0;
  }

  /** @param {wire.Frame} frame */
  receive(frame) {
    for (const row of this.rows.values()) row.receive(frame);
  }

  /** @param {Project} project @param {{isOpen: boolean, openChat: string|null}} now */
  #row(project, now) {
    const known = this.rows.get(project.id);
    const row = known ?? this.#newRow();
    row.update(project, now);
    row.isTabStop = project.id === this.tabStop;
    if (!known) {
      this.rows.set(project.id, row);
      row.unfold(this.unfolded.has(project.id));
    }
    return row.element;
  }

  #newRow() {
    return new ProjectRow({
      ...this.page,
      items: (project) => this.actions.items(project),
      unfolded: (project, isUnfolded) => this.unfolded.set(project, isUnfolded),
      dropped: (session, project) => void this.actions.drop(session, project),
      scroller: this.list,
    });
  }

  /** The arrows to the sides, as in a tree. @param {KeyboardEvent} event */
  #foldByKey(event) {
    const [fold, unfold] = sideKeys();
    const isUnfolded = { [unfold]: true, [fold]: false }[event.key];
    const row = this.rows.get(this.#idOf(event.target));
    if (
      isUnfolded === undefined ||
      event.altKey ||
      event.ctrlKey ||
      event.metaKey ||
      event.shiftKey ||
      row?.link !== event.target
    )
      return;
    event.preventDefault();
    row.unfold(isUnfolded);
  }

  /** Of the folder, if it is on one and not on a chat in it. @param {EventTarget} target @returns {string|null} */
  #idOf(target) {
    return /** @type {HTMLElement} */ (target).closest("li.folder > .session")?.closest("li").dataset.id ?? null;
  }

  /** @param {string|null} id */
  #moveTabStop(id) {
    if (id === null && this.rows.size > 0) return; // one of the chats in a folder
    const before = this.rows.get(this.tabStop);
    if (before) before.isTabStop = false;
    this.tabStop = id;
    const now = this.rows.get(id);
    if (now) now.isTabStop = true;
  }

  /** @param {string} id @param {(project: Project) => void} action */
  #act(id, action) {
    const project = this.rows.get(id)?.project;
    if (project) action(project);
  }

  #fold() {
    this.isFolded = !this.isFolded;
    localStorage.setItem(KEPT_AS, this.isFolded ? "folded" : "open");
    this.#showFolded();
  }

  #showFolded() {
    this.toggle.setAttribute("aria-expanded", String(!this.isFolded));
    this.list.hidden = this.isFolded || this.rows.size === 0;
  }
}

/** Which projects are unfolded. The browser remembers it. */
export class UnfoldedProjects {
  /** @param {Storage} storage */
  constructor(storage) {
    this.storage = storage;
    this.ids = storedIds(storage);
  }

  /** @param {string} id */
  has(id) {
    return this.ids.includes(id);
  }

  /** @param {string} id @param {boolean} isUnfolded */
  set(id, isUnfolded) {
    const others = this.ids.filter((other) => other !== id);
    this.ids = isUnfolded ? [...others, id].slice(-MOST_UNFOLDED) : others;
    try {
      this.storage.setItem(UNFOLDED_KEPT_AS, JSON.stringify(this.ids));
    } catch {
      // Without storage it lasts as long as the page.
    }
  }
}

/** @param {Storage} storage @returns {string[]} */
function storedIds(storage) {
  try {
    const ids = JSON.parse(storage.getItem(UNFOLDED_KEPT_AS) ?? "[]");
    return Array.isArray(ids) ? ids.filter((id) => typeof id === "string").slice(-MOST_UNFOLDED) : [];
  } catch {
    return [];
  }
}

/**
 * @typedef {object} RowPage
 * @property {(project: Project) => MenuItem[]} items
 * @property {() => ListActions} chats
 * @property {(project: string, isUnfolded: boolean) => void} unfolded
 * @property {(session: string, project: Project) => void} dropped
 * @property {(error: any) => void} failed
 * @property {HTMLElement} scroller
 */

/** A project in the sidebar: a folder, which unfolds to its chats. They are read when it is unfolded, page by page. */
class ProjectRow {
  /** @param {RowPage} page */
  constructor(page) {
    this.page = page;
    /** The chats, while it is unfolded. @type {{store: SessionStore, list: SessionList}|null} */
    this.chats = null;
    /** @type {string|null} */
    this.openChat = null;
    this.title = h("span", { class: "title", dir: "auto" });
    this.fold = h(
      "button",
      {
        type: "button",
        class: "icon-button unfold",
        "aria-expanded": "false",
        onclick: () => this.unfold(!this.isUnfolded),
      },
      icon("chevronRight"),
    );
    this.link = h("a", {}, icon("folder"), this.title);
    this.menu = menuButton("", () => page.items(this.project));
    this.place = h("div", { class: "session-list", hidden: true });
    this.element = h(
      "li",
      { class: "folder" },
      h("div", { class: "session" }, this.link, this.fold, this.menu),
      this.place,
    );
    onDroppedSession(this.element, (session) => page.dropped(session, this.project));
  }

  get isUnfolded() {
    return this.chats !== null;
  }

  /** @param {Project} project @param {{isOpen: boolean, openChat: string|null}} now openChat: the id of the open chat */
  update(project, { isOpen, openChat }) {
    this.project = project;
    this.openChat = openChat;
    this.element.dataset.id = project.id;
    this.link.href = projectAddress(project.id);
    this.title.textContent = this.link.title = project.name;
    this.menu.title = t("Actions");
    this.menu.setAttribute("aria-label", t("Actions for “%(title)s”", { title: project.name }));
    this.fold.title = t("Chats of “%(title)s”", { title: project.name });
    this.fold.setAttribute("aria-label", this.fold.title);
    if (isOpen) this.link.setAttribute("aria-current", "page");
    else this.link.removeAttribute("aria-current");
    this.chats?.list.show(openChat);
  }

  /** Shows or hides its chats. @param {boolean} isUnfolded */
  unfold(isUnfolded) {
    if (isUnfolded === this.isUnfolded) return;
    this.fold.setAttribute("aria-expanded", String(isUnfolded));
    this.place.hidden = !isUnfolded;
    this.place.replaceChildren();
    this.chats?.list.observer.disconnect();
    this.chats = isUnfolded ? this.#readChats() : null;
    this.page.unfolded(this.project.id, isUnfolded);
  }

  /** @param {wire.Frame} frame */
  receive(frame) {
    this.chats?.store.receive(frame);
  }

  /** @param {boolean} isStop */
  set isTabStop(isStop) {
    this.link.tabIndex = this.menu.tabIndex = this.fold.tabIndex = isStop ? 0 : -1;
  }

  #readChats() {
    const store = new SessionStore(
      { changed: () => this.chats?.store === store && list.show(this.openChat), failed: this.page.failed },
      { project: this.project.id },
    );
    const list = new SessionList(this.place, store, this.page.chats(), this.page.scroller, this.fold.title);
    void store.refresh();
    return { store, list };
  }
}
