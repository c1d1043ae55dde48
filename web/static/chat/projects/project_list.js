/** The section of projects in the sidebar: a heading that folds it, a button for a new one, and a row for each. */

import { h, setChildren } from "../elements/element.js";
import { icon } from "../elements/icons.js";
import { menuButton } from "../elements/menu.js";
import { t } from "../i18n.js";
import { onListKeys } from "../sessions/list_keys.js";
import { projectAddress } from "../frame/address.js";

/** @import {Project} from "../types.js" */
/** @import {ProjectActions} from "./project_actions.js" */

const KEPT_AS = "turnwire.projects";

export class ProjectList {
  /** @param {HTMLElement} nav @param {ProjectActions} actions */
  constructor(nav, actions) {
    this.nav = nav;
    this.actions = actions;
    /** @type {Map<string, ProjectRow>} */
    this.rows = new Map();
    /** The row that the Tab key focuses. @type {string|null} */
    this.tabStop = null;
    this.isFolded = localStorage.getItem(KEPT_AS) === "folded";
    this.list = h("ul", { id: "project-list", "aria-label": t("Projects") });
    this.toggle = h("button", { type: "button", class: "fold", "aria-controls": this.list.id, onclick: () => this.#fold() }, icon("chevronRight"), t("Projects"));
    const label = t("New project");
    const create = h("button", { type: "button", class: "icon-button", "aria-label": label, title: label, onclick: () => actions.create() }, icon("plus"));
    nav.append(h("div", { class: "line" }, h("h2", {}, this.toggle), create), this.list);
    onListKeys(this.list, { rename: (id) => this.#act(id, (project) => actions.rename(project)), remove: (id) => this.#act(id, (project) => actions.remove(project)) });
    this.list.addEventListener("focusin", (event) => this.#moveTabStop(idOf(event.target)));
    this.#showFolded();
  }

  /** @param {Project[]} projects @param {string|null} open the id of the open project */
  show(projects, open) {
    const focused = this.list.contains(document.activeElement) ? /** @type {HTMLElement} */ (document.activeElement) : null;
    const ids = new Set(projects.map(({ id }) => id));
    for (const id of this.rows.keys()) if (!ids.has(id)) this.rows.delete(id);
    setChildren(this.list, projects.map((project) => this.#row(project, open)));
    if (!ids.has(this.tabStop)) this.#moveTabStop(open && ids.has(open) ? open : (projects[0]?.id ?? null));
    // Moving an element in the document removes the focus from it.
    if (focused?.isConnected && document.activeElement !== focused) focused.focus();
    this.list.hidden = this.isFolded || projects.length === 0;
    this.toggle.disabled = projects.length === 0;
  }

  /** @param {Project} project @param {string|null} open */
  #row(project, open) {
    let row = this.rows.get(project.id);
    if (!row) this.rows.set(project.id, (row = new ProjectRow(this.actions)));
    row.update(project, { isOpen: project.id === open });
    row.isTabStop = project.id === this.tabStop;
    return row.element;
  }

  /** @param {string|null} id */
  #moveTabStop(id) {
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

class ProjectRow {
  /** @param {ProjectActions} actions */
  constructor(actions) {
    this.title = h("span", { class: "title" });
    this.link = h("a", {}, icon("folder"), this.title);
    this.menu = menuButton("", () => actions.items(this.project));
    this.element = h("li", { class: "session" }, this.link, this.menu);
  }

  /** @param {Project} project @param {{isOpen: boolean}} now */
  update(project, { isOpen }) {
    this.project = project;
    this.element.dataset.id = project.id;
    this.link.href = projectAddress(project.id);
    this.title.textContent = this.link.title = project.name;
    this.menu.title = t("Actions");
    this.menu.setAttribute("aria-label", t("Actions for “%(title)s”", { title: project.name }));
    if (isOpen) this.link.setAttribute("aria-current", "page");
    else this.link.removeAttribute("aria-current");
  }

  /** @param {boolean} isStop */
  set isTabStop(isStop) {
    this.link.tabIndex = this.menu.tabIndex = isStop ? 0 : -1;
  }
}

/** @param {EventTarget} target @returns {string|null} */
const idOf = (target) => /** @type {HTMLElement} */ (target).closest("li")?.dataset.id ?? null;
