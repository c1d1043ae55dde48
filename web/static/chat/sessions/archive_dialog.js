/** The dialog of archived chats, as the list of all chats shows them. */

import { dialog, open } from "../elements/dialogs.js";
import { h } from "../elements/element.js";
import { t } from "../i18n.js";
import { SessionList } from "./session_list.js";
import { SessionStore } from "./session_store.js";

/** @import {ListActions} from "./session_list.js" */

export class ArchiveDialog {
  /** Opens it. @param {ListActions} actions @param {{open: string|null, failed: (error: any) => void}} page open: the id of the open chat */
  constructor(actions, page) {
    this.page = page;
    const place = h("div", { class: "session-list" });
    const scroller = h("div", { class: "sections" }, place);
    this.none = h(
      "p",
      { class: "hint", hidden: true },
      t("None yet. Chats that you archive leave the list; the search still finds them."),
    );
    place.append(this.none);
    this.store = new SessionStore({ changed: () => this.#changed(), failed: page.failed }, { isArchive: true });
    this.list = new SessionList(place, this.store, actions, scroller);
    const leave = () => this.element.close();
    this.element = dialog(
      t("Archived chats"),
      { class: "large", closed: () => removeEventListener("hashchange", leave) },
      scroller,
    );
    addEventListener("hashchange", leave);
    open(this.element);
    void this.store.refresh();
  }

  /** @param {wire.Frame} frame */
  receive(frame) {
    if (this.element.open) this.store.receive(frame);
  }

  #changed() {
    this.list.show(this.page.open);
    this.none.hidden = this.store.shown.sessions.length > 0;
  }
}
