/** The dialog of deleted chats: each is restored or deleted for good. */

import { ask, dialog, open } from "../elements/dialogs.js";
import { oneAtATime } from "../elements/forms.js";
import { h } from "../elements/element.js";
import { iconButton } from "../elements/icons.js";
import { language, t } from "../i18n.js";
import { call, LARGEST_PAGE, readOlder, readTrash, restoreSession } from "../server/api.js";
import { titleOf } from "../sessions/session_row.js";

/** @import {Session} from "../types.js" */
/** @typedef {Session & {deleted_at: string, purge_at: string, is_part: boolean}} TrashedSession */

export class TrashDialog {
  /** Opens it. @param {{failed: (error: any) => void, changed: () => void, purged: (id: string) => void}} page changed: a chat was restored; purged: deleted for good */
  constructor(page) {
    /** @type {typeof page} */
    this.page = page;
    this.list = h("ul", { class: "rows trash" });
    this.none = h("p", { class: "hint", hidden: true }, t("The trash is empty."));
    /** @type {string|null} */
    this.next = null;
    this.more = h(
      "button",
      {
        type: "button",
        class: "quiet",
        hidden: true,
        onclick: oneAtATime(() => this.#attempt(() => this.#readMore())),
      },
      t("Show older chats"),
    );
    this.empty = h(
      "button",
      { type: "button", class: "danger", hidden: true, onclick: () => this.#attempt(() => this.#empty()) },
      t("Empty the trash"),
    );
    const hint = h("p", { class: "hint" }, t("They take up room until they are deleted for good."));
    this.element = dialog(
      t("Trash"),
      { class: "large" },
      h("div", { class: "sections" }, hint, this.list, this.none, this.more, this.empty),
    );
    open(this.element);
    this.#attempt(() => this.#read());
  }

  /** @param {wire.Frame} frame */
  receive(frame) {
    if (this.element.open && (frame.type === "session_deleted" || frame.type === "sessions_resync"))
      this.#attempt(() => this.#read());
    if (frame.type === "session_changed") this.#leave(frame.session);
  }

  async #read() {
    const page = await readTrash(LARGEST_PAGE);
    this.list.replaceChildren();
    this.#add(page);
  }

  async #readMore() {
    if (this.next) this.#add(/** @type {any} */ (await readOlder(this.next)));
  }

  /** @param {{results: TrashedSession[], next: string|null}} page */
  #add({ results, next }) {
    this.next = next;
    this.list.append(...results.map((session) => this.#row(session)));
    this.#show();
  }

  #show() {
    const isEmpty = this.list.children.length === 0;
    this.none.hidden = !isEmpty;
    this.empty.hidden = isEmpty;
    this.more.hidden = this.next === null;
  }

  /** @param {TrashedSession} session */
  #row(session) {
    const title = titleOf(session);
    const restore = h(
      "button",
      {
        type: "button",
        "aria-label": t("Restore “%(title)s”", { title }),
        onclick: () => this.#attempt(() => this.#restore(session)),
      },
      t("Restore"),
    );
    const away = iconButton(t("Delete “%(title)s” for good", { title }), "trash", () =>
      this.#attempt(() => this.#remove(session)),
    );
    const day = new Date(session.purge_at).toLocaleDateString(language, { dateStyle: "medium" });
    const row = h(
      "li",
      {},
      h("span", { class: "title" }, title),
      h(
        "span",
        { class: "hint" },
        session.is_part ? t("Part of a chat, until %(day)s", { day }) : t("until %(day)s", { day }),
      ),
      restore,
      away,
    );
    row.dataset.id = session.id;
    return row;
  }

  /** @param {TrashedSession} session */
  async #restore(session) {
    await restoreSession(session.id);
    this.#leave(session.id);
    this.page.changed();
  }

  /** @param {TrashedSession} session */
  async #remove(session) {
    const what = h("p", {}, t("“%(title)s” and all its branches are deleted for good.", { title: titleOf(session) }));
    if (!(await ask(t("Delete this chat?"), { yes: t("Delete") }, what))) return;
    await call("DELETE", `trash/${session.id}/`);
    this.page.purged(session.id);
    this.#leave(session.id);
  }

  async #empty() {
    const what = h("p", {}, t("All chats in it are deleted for good."));
    if (!(await ask(t("Empty the trash?"), { yes: t("Empty") }, what))) return;
    await call("DELETE", "trash/");
    for (const { dataset } of /** @type {HTMLElement[]} */ ([...this.list.children])) this.page.purged(dataset.id);
    await this.#read();
    this.element.querySelector("button")?.focus();
  }

  /** Takes its row away; the focus that was there goes to a neighbour. @param {string} id */
  #leave(id) {
    const row = /** @type {HTMLElement[]} */ ([...this.list.children]).find((one) => one.dataset.id === id);
    if (!row) return;
    const neighbour = row.contains(document.activeElement)
      ? (row.nextElementSibling ?? row.previousElementSibling ?? this.element)
      : null;
    row.remove();
    this.#show();
    neighbour?.querySelector("button")?.focus();
  }

  /** @param {() => Promise<void>} action */
  #attempt(action) {
    return action().catch(this.page.failed);
  }
}
