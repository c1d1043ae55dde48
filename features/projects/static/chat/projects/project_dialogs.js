/** The questions before a project is created, renamed or deleted, and what is done then. Loaded with the first of them. */

import { changeProject, createProject, deleteProject } from "./project_actions.js";
import { ask, dialog, open } from "../elements/dialogs.js";
import { h } from "../elements/element.js";
import { t, tn } from "../i18n.js";
import { deleteFile } from "../files/files.js";
import { unlessGone } from "../server/api.js";
import { icon } from "../elements/icons.js";

/** @import {Project} from "../types.js" */

/** @returns {Promise<Project|null>} null: cancelled */
export async function create() {
  const name = await askName(
    t("New project"),
    t("Create"),
    "",
    h(
      "p",
      { class: "hint" },
      t("A project keeps chats together, with files and instructions that models read in each of them."),
    ),
  );
  return name ? createProject(name) : null;
}

/** @param {Project} project @returns {Promise<Project|null>} null: cancelled */
export async function rename(project) {
  const name = await askName(t("Rename this project"), t("Rename"), project.name);
  return name ? changeProject(project.id, { name }) : null;
}

/** @param {Project} project @returns {Promise<boolean>} false: cancelled */
export async function remove({ id, name, files }) {
  const box = h("input", { type: "checkbox", checked: files.length > 0 });
  const label = tn("Delete its %(count)s file for good", "Delete its %(count)s files for good", files.length);
  const content = [
    h(
      "p",
      {},
      t("“%(name)s” and its instructions are deleted. Its chats stay, and go on without them and without its files.", {
        name,
      }),
    ),
    ...(files.length > 0 ? [h("label", { class: "box" }, box, h("span", {}, label))] : []),
  ];
  if (!(await ask(t("Delete this project?"), { yes: t("Delete") }, ...content))) return false;
  // The files first: if one is not deleted the project is still there to try again.
  if (box.checked) for (const file of files) await deleteFile(file.id).catch(unlessGone);
  await deleteProject(id).catch(unlessGone);
  return true;
}

/** @param {Project[]} projects @param {string|null} current @returns {Promise<string|Project|null>} an id, or a new project; null: cancelled */
export async function choose(projects, current) {
  const chosen = await chooseProject(projects, current);
  return chosen === "new" ? create() : chosen;
}

/** @param {string} heading @param {string} yes @param {string} value @param {Node} [about] @returns {Promise<string|null>} null: cancelled, or left empty */
async function askName(heading, yes, value, about) {
  const field = h("input", {
    type: "text",
    maxLength: 200,
    value,
    "aria-label": t("Name"),
    placeholder: t("Name"),
    autocomplete: "off",
  });
  const answered = ask(heading, { yes, look: "primary" }, ...(about ? [about] : []), field);
  field.select();
  return (await answered) ? field.value.trim() || null : null;
}

// The dialog that asks which project a chat is to belong to.

/** @param {Project[]} projects @param {string|null} current @returns {Promise<string|null>} an id, or "new"; null: closed */
function chooseProject(projects, current) {
  return new Promise((resolve) => {
    let chosen = /** @type {string|null} */ (null);
    const choose = (/** @type {string} */ id) => {
      chosen = id;
      element.close();
    };
    const rows = projects.map((project) => row(project, project.id === current, () => choose(project.id)));
    const create = h("button", { type: "button", onclick: () => choose("new") }, icon("plus"), t("New project"));
    const list = rows.length > 0 && h("ul", { class: "project-choice" }, ...rows);
    const element = dialog(
      t("Move this chat to a project"),
      { class: "question", closed: () => resolve(chosen) },
      list,
      h("div", { class: "row" }, create),
    );
    open(element);
    /** @type {HTMLElement} */ (element.querySelector(".project-choice button:enabled") ?? create).focus();
  });
}

/** @param {Project} project @param {boolean} isCurrent @param {() => void} choose */
function row(project, isCurrent, choose) {
  const mark = isCurrent && h("small", {}, t("now"));
  return h(
    "li",
    {},
    h(
      "button",
      { type: "button", disabled: isCurrent, onclick: choose },
      icon("folder"),
      h("span", { class: "title" }, project.name),
      mark,
    ),
  );
}
