/** A row of the session list: link, marks, menu, and the title edited in place. */

import { isComposing } from "../elements/text_field.js";
import { h } from "../elements/element.js";
import { sessionAddress } from "../frame/address.js";
import { t } from "../i18n.js";
import { icon } from "../elements/icons.js";
import { menuButton } from "../elements/menu.js";
import { matchParts } from "../conversation/search_marks.js";

/** @import {Session} from "../types.js" */
/** @import {MenuItem} from "../elements/menu.js" */

const LONGEST_TITLE = 200;

/** @param {{title: string, is_temporary?: boolean}} session */
export const titleOf = (session) => session.title || (session.is_temporary ? t("Temporary chat") : t("Untitled chat"));

export class SessionRow {
  /** @param {{items: (session: Session) => MenuItem[], rename: (session: Session, title: string) => void}} actions */
  constructor(actions) {
    this.actions = actions;
    this.title = h("span", { class: "title", dir: "auto" });
    this.archived = h("span", { class: "archived" });
    this.tags = h("span", { class: "tagged" });
    this.mark = h("span", { class: "mark" });
    this.match = h("span", { class: "match" });
    this.link = h("a", {}, this.title, this.tags, this.archived, this.mark, this.match);
    this.menu = menuButton("", () => actions.items(this.session));
    this.box = h("input", { type: "checkbox", hidden: true });
    this.element = h("li", { class: "session" }, this.box, this.link, this.menu);
  }

  /** @param {Session} session @param {{isOpen: boolean, isInArchive: boolean, isPicked: boolean|null, searched: string}} now isInArchive: so are all rows; isPicked: null: none is being picked */
  update(session, { isOpen, isInArchive, isPicked, searched }) {
    this.session = session;
    const title = titleOf(session);
    const address = sessionAddress(session.id, session.match_message);
    if (this.link.hash !== address) this.link.href = address;
    this.title.textContent = this.link.title = title;
    this.menu.title = t("Actions");
    this.menu.setAttribute("aria-label", t("Actions for “%(title)s”", { title }));
    this.match.replaceChildren(
      ...matchParts(session.match ?? "", searched).map(({ text, isFound }) => (isFound ? h("mark", {}, text) : text)),
    );
    this.#showArchived(Boolean(session.is_archived) && !isInArchive);
    this.match.hidden = !session.match;
    this.#showTags(session.tags ?? []);
    this.#showMark(isOpen);
    this.#showPicked(isPicked, title);
    if (isOpen) this.link.setAttribute("aria-current", "page");
    else this.link.removeAttribute("aria-current");
  }

  /** Sets whether this row is the one in the Tab order; arrows move to the others. @param {boolean} isStop */
  set isTabStop(isStop) {
    this.link.tabIndex = this.menu.tabIndex = this.box.tabIndex = isStop ? 0 : -1;
  }

  /** Enter or leaving the field saves the new title; Escape keeps the old one. */
  edit() {
    if (this.element.classList.contains("editing")) return;
    const field = h("input", {
      type: "text",
      maxLength: LONGEST_TITLE,
      value: this.session.title,
      "aria-label": t("Title"),
    });
    let isDone = false;
    const done = (/** @type {boolean} */ isKept, /** @type {boolean} */ takesFocus) => {
      if (isDone) return;
      isDone = true; // removing a field that has the focus takes the focus away from it
      field.remove();
      this.element.classList.remove("editing");
      const title = field.value.trim();
      if (isKept && title && title !== this.session.title) this.actions.rename(this.session, title);
      if (takesFocus) this.link.focus();
    };
    field.addEventListener("keydown", (event) => {
      event.stopPropagation(); // arrows and Delete are the field's here
      if (isComposing(event)) return;
      if (event.key === "Enter" || event.key === "Escape") done(event.key === "Enter", true);
    });
    // The row may have been moved, which takes the focus away until the list gives it back.
    field.addEventListener("blur", () => queueMicrotask(() => document.activeElement !== field && done(true, false)));
    this.element.classList.add("editing");
    this.element.append(field);
    field.select();
    field.focus();
  }

  /** By a sign alone: titles need the room. @param {string[]} tags */
  #showTags(tags) {
    const words = tags.length > 0 ? t("Tags: %(tags)s", { tags: tags.join(", ") }) : "";
    if (this.tags.title === words) return;
    this.tags.title = words;
    this.tags.replaceChildren(...(words ? [icon("tag"), h("span", { class: "unseen" }, `(${words})`)] : []));
  }

  /** @param {boolean} isShown */
  #showArchived(isShown) {
    const words = isShown ? t("Archived") : "";
    this.archived.title = words;
    this.archived.replaceChildren(...(words ? [icon("archive"), h("span", { class: "unseen" }, `(${words})`)] : []));
  }

  /** @param {boolean|null} isPicked @param {string} title */
  #showPicked(isPicked, title) {
    this.box.hidden = isPicked === null;
    this.menu.hidden = isPicked !== null;
    this.box.checked = Boolean(isPicked);
    this.box.setAttribute("aria-label", t("Select “%(title)s”", { title }));
    this.element.classList.toggle("picked", Boolean(isPicked));
  }

  /** @param {boolean} isOpen what is open is being read */
  #showMark(isOpen) {
    const { is_answering: isAnswering, is_unread: isUnread, is_waiting: isWaiting } = this.session;
    const kind = isWaiting ? "waiting" : isAnswering ? "answering" : isUnread && !isOpen ? "unread" : "";
    const words = { waiting: t("waits for you"), answering: t("being answered"), unread: t("new answer"), "": "" }[
      kind
    ];
    this.element.classList.toggle("unread", kind === "unread");
    this.mark.className = `mark ${kind}`;
    this.mark.title = words;
    this.mark.replaceChildren(kind === "waiting" ? words : words && h("span", { class: "unseen" }, `(${words})`));
  }
}
