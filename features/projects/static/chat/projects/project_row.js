/** A project in the sidebar: a folder, which unfolds to its chats. They are read when it is unfolded, page by page. */

import { h } from "../elements/element.js";
import { projectAddress } from "../frame/address.js";
import { t } from "../i18n.js";
import { icon } from "../elements/icons.js";
import { menuButton } from "../elements/menu.js";
import { onDroppedSession } from "../sessions/list_input.js";
import { SessionList } from "../sessions/session_list.js";
import { SessionStore } from "../sessions/session_store.js";

/** @import {MenuItem} from "../elements/menu.js" */
/** @import {ListActions} from "../sessions/session_list.js" */
/** @import {Project} from "../types.js" */

/**
 * @typedef {object} RowPage
 * @property {(project: Project) => MenuItem[]} items
 * @property {() => ListActions} chats
 * @property {(project: string, isUnfolded: boolean) => void} unfolded
 * @property {(session: string, project: Project) => void} dropped
 * @property {(error: any) => void} failed
 * @property {HTMLElement} scroller
 */

export class ProjectRow {
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
