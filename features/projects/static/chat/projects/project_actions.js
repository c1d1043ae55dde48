/** What can be done with projects: create, rename, delete; which project a chat belongs to; and the REST calls. */

import { t } from "../i18n.js";
import { changeSession, call, readAllPages } from "../server/api.js";

/** @import {MenuItem} from "../elements/menu.js" */
/** @import {Project, Session} from "../types.js" */

const loadDialogs = () => import("./project_dialogs.js");

export class ProjectActions {
  /**
   * @param {import("./projects.js").ProjectStore} store
   * @param {object} page
   * @param {(action: () => Promise<any>) => Promise<boolean>} page.attempt  reports a failure; whether there was none
   * @param {(project: string) => void} page.open
   * @param {(session: string, project: string|null) => void} page.moved
   * @param {(text: string) => void} page.announce
   */
  constructor(store, page) {
    this.store = store;
    this.page = page;
  }

  /** @param {Project} project @returns {MenuItem[]} */
  items(project) {
    return [
      { label: t("Rename"), icon: "edit", action: () => this.rename(project) },
      { label: t("Delete"), icon: "trash", isDangerous: true, action: () => this.remove(project) },
    ];
  }

  /** Of the menu of a chat. @param {Session} session @returns {MenuItem[]} */
  itemsOf(session) {
    const project = this.store.get(session.project ?? null);
    const choose = {
      label: project ? t("Move to another project") : t("Move to a project"),
      icon: /** @type {const} */ ("folder"),
      action: () => this.#choose(session),
    };
    const leave = {
      label: t("Take out of its project"),
      icon: /** @type {const} */ ("folder"),
      hint: project?.name,
      action: () => this.#move(session, null),
    };
    return project ? [choose, leave] : [choose];
  }

  /** A chat was dropped on a project. @param {string} session @param {Project} project */
  async drop(session, project) {
    if (await this.#move({ id: session }, project.id))
      this.page.announce(t("Moved to “%(name)s”", { name: project.name }));
  }

  create() {
    return this.page.attempt(async () => {
      const made = await (await loadDialogs()).create();
      if (!made) return;
      this.store.put(made);
      this.page.open(made.id);
    });
  }

  /** @param {Project} project */
  rename(project) {
    return this.page.attempt(async () => {
      const renamed = await (await loadDialogs()).rename(project);
      if (renamed) this.store.put(renamed);
    });
  }

  /** @param {Project} project */
  remove(project) {
    return this.page.attempt(async () => {
      if (await (await loadDialogs()).remove(project)) this.store.remove(project.id);
    });
  }

  /** @param {Session} session */
  #choose(session) {
    return this.page.attempt(async () => {
      const chosen = await (await loadDialogs()).choose(this.store.projects ?? [], session.project ?? null);
      if (chosen && typeof chosen !== "string") this.store.put(chosen);
      if (chosen) await this.#move(session, typeof chosen === "string" ? chosen : chosen.id);
    });
  }

  /** @param {{id: string}} session @param {string|null} project */
  async #move(session, project) {
    const isMoved = await this.page.attempt(() => changeSession(session.id, { project }));
    if (isMoved) this.page.moved(session.id, project);
    return isMoved;
  }
}

/** @returns {Promise<Project[]>} all, the latest changed first */
export const readProjects = () => readAllPages("projects/");
/** @param {string} id @returns {Promise<Project>} */
export const readProject = (id) => call("GET", `projects/${id}/`);
/** @param {string} name @returns {Promise<Project>} */
export const createProject = (name) => call("POST", "projects/", { name });
/** @param {string} id @param {Partial<ProjectBody>} fields @returns {Promise<Project>} */
export const changeProject = (id, fields) => call("PATCH", `projects/${id}/`, fields);
/** Its chats and files go on without it. @param {string} id */
export const deleteProject = (id) => call("DELETE", `projects/${id}/`);
