/** What can be done with projects: create, rename, delete; and which project a chat belongs to. */

import { ask } from "../elements/dialogs.js";
import { h } from "../elements/element.js";
import { t, tn } from "../i18n.js";
import { deleteFile } from "../server/files_api.js";
import { changeProject, createProject, deleteProject } from "../server/projects_api.js";
import { changeSession } from "../server/sessions_api.js";

/** @import {MenuItem} from "../elements/menu.js" */
/** @import {Project, Session} from "../types.js" */

export class ProjectActions {
  /**
   * @param {import("./project_store.js").ProjectStore} store
   * @param {object} page
   * @param {(action: () => Promise<any>) => Promise<boolean>} page.attempt  reports a failure; whether there was none
   * @param {(project: string) => void} page.open
   * @param {(session: string, project: string|null) => void} page.moved
   * @param {(project: string) => void} page.removed
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
    const choose = { label: project ? t("Move to another project") : t("Move to a project"), icon: /** @type {const} */ ("folder"), action: () => this.#choose(session) };
    const leave = { label: t("Take out of its project"), icon: /** @type {const} */ ("folder"), hint: project?.name, action: () => this.move(session, null) };
    return project ? [choose, leave] : [choose];
  }

  async create() {
    const made = await this.#createNamed();
    if (made) this.page.open(made.id);
  }

  /** @param {Project} project */
  async rename(project) {
    const name = await askName(t("Rename this project"), t("Rename"), project.name);
    if (name) await this.page.attempt(async () => this.store.put(await changeProject(project.id, { name })));
  }

  /** @param {Project} project */
  async remove(project) {
    const { files } = project;
    const box = h("input", { type: "checkbox", checked: files.length > 0 });
    const label = tn("Delete its %(count)s file for good", "Delete its %(count)s files for good", files.length);
    const content = [
      h("p", {}, t("“%(name)s” and its instructions are deleted. Its chats stay, and go on without them and without its files.", { name: project.name })),
      ...(files.length > 0 ? [h("label", { class: "box" }, box, h("span", {}, label))] : []),
    ];
    if (!(await ask(t("Delete this project?"), { yes: t("Delete") }, ...content))) return;
    await this.page.attempt(async () => {
      await deleteProject(project.id).catch(unlessGone);
      this.store.remove(project.id);
      this.page.removed(project.id);
      if (box.checked) for (const { id } of files) await deleteFile(id).catch(unlessGone);
    });
  }

  /** @param {Session} session @param {string|null} project */
  async move(session, project) {
    const isMoved = await this.page.attempt(() => changeSession(session.id, { project }));
    if (isMoved) this.page.moved(session.id, project);
  }

  /** @param {Session} session */
  async #choose(session) {
    const { chooseProject } = await import("./project_choice.js");
    const chosen = await chooseProject(this.store.projects ?? [], session.project ?? null);
    const id = chosen === "new" ? (await this.#createNamed())?.id : chosen;
    if (id) await this.move(session, id);
  }

  /** @returns {Promise<Project|null>} null: cancelled, or not accepted */
  async #createNamed() {
    const name = await askName(t("New project"), t("Create"), "");
    /** @type {Project|null} */
    let made = null;
    if (name) await this.page.attempt(async () => this.store.put((made = await createProject(name))));
    return made;
  }
}

/** @param {string} heading @param {string} yes @param {string} value @returns {Promise<string|null>} null: cancelled, or left empty */
async function askName(heading, yes, value) {
  const field = h("input", { type: "text", maxLength: 200, value, "aria-label": t("Name"), placeholder: t("Name"), autocomplete: "off" });
  const answered = ask(heading, { yes, look: "primary" }, field);
  field.select();
  return (await answered) ? field.value.trim() || null : null;
}

/** Accepts that what is deleted was deleted elsewhere meanwhile. @param {any} error */
export function unlessGone(error) {
  if (error.status !== 404) throw error;
}
