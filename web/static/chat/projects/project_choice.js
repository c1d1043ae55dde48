/** The dialog that asks which project a chat is to belong to. */

import { dialog, open } from "../elements/dialogs.js";
import { h } from "../elements/element.js";
import { icon } from "../elements/icons.js";
import { t } from "../i18n.js";

/** @import {Project} from "../types.js" */

/** @param {Project[]} projects @param {string|null} current @returns {Promise<string|null>} an id, or "new"; null: closed */
export function chooseProject(projects, current) {
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
