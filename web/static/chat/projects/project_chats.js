/** The chats of a project, as the list of all chats shows them. */

import { h } from "../elements/element.js";
import { t } from "../i18n.js";
import { SessionList } from "../sessions/session_list.js";
import { SessionStore } from "../sessions/session_store.js";

/** @import {ListActions} from "../sessions/session_list.js" */

export class ProjectChats {
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
