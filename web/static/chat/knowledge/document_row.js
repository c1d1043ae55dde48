/** One document in the list of its base, or an upload that is becoming one. */

import { h } from "../elements/element.js";
import { hostOf } from "../elements/hosts.js";
import { icon } from "../elements/icons.js";
import { showText, visibleText } from "../elements/visible_text.js";
import { menuButton } from "../elements/menu.js";
import { stateText } from "../files/file_texts.js";
import { t } from "../i18n.js";

/** @import {MenuItem} from "../elements/menu.js" */
/** @import {FileEntry} from "../files/file_entry.js" */
/** @import {KnowledgeDocument} from "../types.js" */

const ICONS = /** @type {const} */ ({ image: "image", tabular: "table", text: "file" });

export class DocumentRow {
  /**
   * @param {object} actions
   * @param {(document: KnowledgeDocument) => void} actions.open
   * @param {(document: KnowledgeDocument) => MenuItem[]} actions.items
   * @param {(key: string) => void} actions.retry
   * @param {(key: string) => void} actions.cancel
   */
  constructor(actions) {
    /** @type {FileEntry|undefined} */
    this.entry = undefined;
    /** @type {KnowledgeDocument|undefined} */
    this.document = undefined;
    this.mark = h("span", { class: "mark" });
    this.name = h("span", { class: "title" });
    this.note = h("small", { class: "note" });
    this.open = h(
      "button",
      { type: "button", class: "whole", onclick: () => actions.open(this.document) },
      this.mark,
      h("span", { class: "face" }, this.name, this.note),
    );
    this.progress = h("progress", { class: "file-progress", max: 1 });
    this.again = h(
      "button",
      { type: "button", class: "icon-button", title: t("Try again"), onclick: () => actions.retry(this.entry.key) },
      icon("retry"),
    );
    this.away = h(
      "button",
      { type: "button", class: "icon-button", onclick: () => actions.cancel(this.entry.key) },
      icon("close"),
    );
    this.menu = menuButton("", () => actions.items(this.document));
    this.element = h("li", {}, this.open, this.again, this.away, this.menu, this.progress);
  }

  /** @param {FileEntry} entry @param {KnowledgeDocument|undefined} document @param {boolean} isMine  the user may change it */
  show(entry, document, isMine) {
    [this.entry, this.document] = [entry, document];
    const { name, state, kind, canRetry } = entry;
    const label = visibleText(name);
    this.element.dataset.state = state;
    if (this.mark.dataset.kind !== kind) this.mark.replaceChildren(icon(ICONS[kind] ?? "file"));
    this.mark.dataset.kind = kind;
    showText(this.name, name);
    this.name.title = label;
    this.note.textContent = [hostOf(document?.url), stateText(entry)].filter(Boolean).join(" · ");
    this.open.disabled = state !== "ready";
    this.progress.hidden = state !== "uploading";
    this.progress.value = entry.progress;
    this.progress.setAttribute("aria-label", t("Upload of %(name)s", { name: label }));
    this.again.hidden = Boolean(document) || !canRetry;
    this.again.setAttribute("aria-label", t("Try again: %(name)s", { name: label }));
    this.away.hidden = Boolean(document);
    this.away.title = state === "failed" ? t("Remove") : t("Cancel");
    this.away.setAttribute("aria-label", t("Remove: %(what)s", { what: label }));
    this.menu.hidden = !document || !isMine;
    this.menu.title = t("Actions");
    this.menu.setAttribute("aria-label", t("Actions for “%(title)s”", { title: label }));
  }
}
