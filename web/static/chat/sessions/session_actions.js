/** The actions on a session, for the bar's menu and the session list. */

import * as api from "../server/api.js";
import { askTitle } from "../elements/dialogs.js";
import { h } from "../elements/element.js";
import { t } from "../i18n.js";
import { readAddress } from "../frame/address.js";
import { titleOf } from "./session_list.js";
import { hasTrash, mayDelete } from "./deletion.js";
import { UndoNotice } from "../elements/notices.js";

/** @import {Session} from "../types.js" */
/** @import {MenuItem} from "../elements/menu.js" */

export class SessionActions {
  /**
   * @param {object} page
   * @param {(action: () => Promise<any>) => Promise<boolean>} page.attempt  reports a failure; whether there was none
   * @param {(error: any) => void} page.failed
   * @param {(session: Session, fields: SessionChangesBody) => Promise<boolean>} page.change  shows it at once; whether it was stored
   * @param {() => void} page.changed
   * @param {(id: string) => void} page.removed
   * @param {(session: Session) => MenuItem[]} page.projectItems
   */
  constructor(page) {
    this.page = page;
  }

  /** @param {Session} session @returns {MenuItem[]} */
  items(session) {
    if (session.is_temporary) return this.#temporaryItems(session);
    return [
      { label: t("Rename"), icon: "edit", action: () => this.rename(session) },
      session.is_pinned
        ? { label: t("Unpin"), icon: "pin", action: () => this.page.change(session, { is_pinned: false }) }
        : { label: t("Pin"), icon: "pin", action: () => this.page.change(session, { is_pinned: true }) },
      { label: t("Tags"), icon: "tag", hint: session.tags?.join(", "), action: () => this.tags(session) },
      { label: t("Share"), icon: "share", action: () => this.share(session) },
      ...this.page.projectItems(session),
      { label: t("Export as Markdown"), icon: "download", action: () => exportSession(session, "markdown") },
      {
        label: t("Export as JSON"),
        icon: "download",
        hint: t("Everything; can be imported"),
        action: () => exportSession(session, "json"),
      },
      {
        label: t("Export with files"),
        icon: "download",
        hint: t("A ZIP archive of everything; can be imported"),
        action: () => exportSession(session, "zip"),
      },
      session.is_archived
        ? {
            label: t("Move out of the archive"),
            icon: "archive",
            action: () => this.page.change(session, { is_archived: false }),
          }
        : { label: t("Archive"), icon: "archive", action: () => this.archive(session) },
      { label: t("Delete"), icon: "trash", isDangerous: true, action: () => this.remove(session) },
    ];
  }

  /** Nothing of it is put where it would outlive it. @param {Session} session @returns {MenuItem[]} */
  #temporaryItems(session) {
    return [
      {
        label: t("Keep this chat"),
        icon: "check",
        hint: t("It becomes one like the others"),
        action: () => this.page.change(session, { is_temporary: false }),
      },
      { label: t("Close and delete"), icon: "close", isDangerous: true, action: () => (location.hash = "") },
    ];
  }

  /** @param {Session} session */
  async rename(session) {
    const title = await askTitle(t("Rename this chat"), session.title);
    if (title && (await this.page.attempt(() => api.renameSession(session.id, title)))) this.page.changed();
  }

  /** @param {Session} session */
  async tags(session) {
    const page = { failed: this.page.failed, closed: this.page.changed };
    await this.page.attempt(async () => (await import("../tags/tags_dialog.js")).openTags(session, page));
  }

  /** @param {Session} session */
  async share(session) {
    await this.page.attempt(async () => (await import("../sharing/share_dialog.js")).shareSession(session));
  }

  /** Leaves the chat, which leaves the list. @param {Session} session */
  async archive(session) {
    const wasOpen = isOpen(session);
    if (!(await this.page.change(session, { is_archived: true }))) return;
    if (isOpen(session)) location.hash = "";
    new UndoNotice(t("“%(title)s” was archived.", { title: titleOf(session) }), async () => {
      if ((await this.page.change(session, { is_archived: false })) && wasOpen) location.hash = session.id;
    });
  }

  /** Into the trash without a question, since it can be undone. @param {Session} session */
  async remove(session) {
    const wasOpen = isOpen(session);
    if (!(await mayDelete(titleOf(session))) || !(await this.page.attempt(() => api.deleteSession(session.id)))) return;
    this.page.removed(session.id);
    if (hasTrash())
      new UndoNotice(t("“%(title)s” was deleted.", { title: titleOf(session) }), () => this.#restore(session, wasOpen));
  }

  /** @param {Session} session @param {boolean} wasOpen */
  async #restore(session, wasOpen) {
    if (!(await this.page.attempt(() => api.restoreSession(session.id)))) return;
    this.page.changed();
    if (wasOpen) location.hash = session.id;
  }
}

/** @param {Session} session */
const isOpen = (session) => readAddress(location.hash).session === session.id;

/** Downloads the export. @param {{id: string}} session @param {"json"|"markdown"|"zip"} kind */
function exportSession(session, kind) {
  h("a", { href: `/api/sessions/${session.id}/export/?as=${kind}`, download: "" }).click();
}
