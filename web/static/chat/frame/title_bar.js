/** The bar above a chat, a project or knowledge bases: the title, the link to the chat's project, and the menu's name. */

import { t, tn } from "../i18n.js";
import { projectAddress } from "./address.js";
import { titleOf } from "../sessions/session_row.js";

/** @import {Project, Session} from "../types.js" */

export class TitleBar {
  /** @param {{title: HTMLElement, project: HTMLAnchorElement, menu: HTMLElement, field: HTMLTextAreaElement}} parts field: of the next message */
  constructor(parts) {
    this.parts = parts;
    this.name = parts.project.querySelector(".name");
    this.placeholder = parts.field.placeholder;
  }

  /**
   * @param {{session: Session|undefined}|null} chat null: none is open; its session may not be known yet
   * @param {Project|undefined} project the open one, or that of the chat
   * @param {{title: string, items: any[]}|undefined} knowledge what is shown of knowledge bases
   * @param {number} waiting how many chats wait for their user
   */
  show(chat, project, knowledge, waiting) {
    const { title, project: link, menu, field } = this.parts;
    const isProject = !chat && project !== undefined;
    if (chat) title.textContent = chat.session ? titleOf(chat.session) : t("Chat");
    else title.textContent = project?.name ?? knowledge?.title ?? t("New chat");
    title.title = title.textContent;
    document.title = titleWith(`${title.textContent} · Turnwire`, waiting);
    link.hidden = !chat || !project;
    if (project) {
      link.href = projectAddress(project.id);
      this.name.textContent = project.name;
      link.title = t("Project: %(name)s", { name: project.name });
      link.setAttribute("aria-label", link.title);
    }
    menu.hidden = !chat && !project && !knowledge?.items.length;
    menu.setAttribute(
      "aria-label",
      isProject
        ? t("Actions for this project")
        : knowledge
          ? t("Actions for this knowledge base")
          : t("Actions for this chat"),
    );
    field.placeholder = isProject ? t("New chat in this project") : this.placeholder;
  }
}

/** @param {string} title @param {number} count */
const titleWith = (title, count) =>
  count > 0 ? `(${tn("%(count)s waits", "%(count)s wait", count)}) ${title}` : title;
