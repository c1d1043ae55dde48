/** A file in a list: name, kind, small picture, tokens, how it gets on, and buttons for what can be done with it. */

import { thumbnailAddress } from "./files.js";
import { h } from "../elements/element.js";
import { icon } from "../elements/icons.js";
import { showText, visibleText } from "../elements/visible_text.js";
import { t } from "../i18n.js";
import { stateText } from "./file_entry.js";

/** @import {FileEntry} from "./file_entry.js" */
/** @typedef {{open?: (entry: FileEntry) => void, retry?: (key: string) => void, remove?: (key: string) => void}} CardActions  those left out have no button */

const ICONS = /** @type {const} */ ({ image: "image", tabular: "table", text: "file" });

export class FileCard {
  /** @param {CardActions} actions */
  constructor(actions) {
    this.actions = actions;
    /** @type {FileEntry|undefined} */
    this.entry = undefined;
    this.warning = "";
    this.shownPicture = /** @type {string|undefined} */ (undefined);
    this.picture = h("span", { class: "file-picture" });
    this.name = h("span", { class: "file-name" });
    this.note = h("small", { class: "file-note" });
    this.progress = h("progress", { class: "file-progress", max: 1 });
    const face = h("span", { class: "file-face" }, this.name, this.note);
    this.face = actions.open
      ? h("button", { type: "button", class: "file-open", onclick: () => actions.open(this.entry) }, this.picture, face)
      : h("span", { class: "file-open" }, this.picture, face);
    this.again = h(
      "button",
      { type: "button", class: "icon-button", title: t("Try again"), onclick: () => actions.retry(this.entry.key) },
      icon("retry"),
    );
    this.away = h(
      "button",
      { type: "button", class: "icon-button", onclick: () => actions.remove(this.entry.key) },
      icon("close"),
    );
    this.element = h(
      "li",
      { class: "file-card" },
      this.face,
      actions.retry && this.again,
      actions.remove && this.away,
      this.progress,
    );
  }

  /** @param {FileEntry} entry @param {string} [warning] shown below a file that is ready */
  show(entry, warning = "") {
    if (entry === this.entry && warning === this.warning) return;
    this.entry = entry;
    this.warning = warning;
    const { name, state } = entry;
    const label = visibleText(name);
    this.element.dataset.state = state;
    this.element.classList.toggle("warned", Boolean(warning));
    showText(this.name, name);
    this.name.title = label;
    this.note.textContent = warning || stateText(entry);
    this.progress.hidden = state !== "uploading";
    this.progress.value = entry.progress;
    this.progress.setAttribute("aria-label", t("Upload of %(name)s", { name: label }));
    if (this.face instanceof HTMLButtonElement) this.face.disabled = state !== "ready";
    this.again.hidden = !entry.canRetry;
    this.again.setAttribute("aria-label", t("Try again: %(name)s", { name: label }));
    this.away.title = state === "uploading" || state === "waiting" ? t("Cancel") : t("Remove");
    this.away.setAttribute("aria-label", t("Remove: %(what)s", { what: label }));
    this.#showPicture(entry);
  }

  focus() {
    (this.actions.remove ? this.away : this.face).focus();
  }

  /** @param {FileEntry} entry */
  #showPicture({ id, kind, picture, hasThumbnail }) {
    const address = picture || (hasThumbnail ? thumbnailAddress(id) : "");
    const key = address || kind;
    if (key === this.shownPicture) return;
    this.shownPicture = key;
    const symbol = icon(ICONS[kind]);
    if (!address) return this.picture.replaceChildren(symbol);
    this.picture.replaceChildren(
      h("img", { src: address, alt: "", loading: "lazy", onerror: () => this.picture.replaceChildren(symbol) }),
    );
  }
}

/**
 * Shows entries as cards in a list, and keeps the cards of those that stay. Focus on a card that goes moves to its neighbour.
 */
export class FileCards {
  /** @param {HTMLElement} list a `ul` @param {CardActions} actions @param {() => void} [left] focus has no card to go to */
  constructor(list, actions, left = () => {}) {
    this.list = list;
    this.actions = actions;
    this.left = left;
    /** @type {Map<string, FileCard>} */
    this.cards = new Map();
  }

  /** @param {FileEntry[]} entries @param {(entry: FileEntry) => string} [warningOf] */
  show(entries, warningOf = () => "") {
    const keys = new Set(entries.map(({ key }) => key));
    for (const [key, card] of this.cards) if (!keys.has(key)) this.#drop(key, card);
    for (const entry of entries) {
      const card = this.cards.get(entry.key) ?? new FileCard(this.actions);
      if (!this.cards.has(entry.key)) this.list.append(card.element);
      this.cards.set(entry.key, card);
      card.show(entry, warningOf(entry));
    }
    this.list.hidden = entries.length === 0;
  }

  /** @param {string} key @param {FileCard} card */
  #drop(key, card) {
    const hadFocus = card.element.contains(document.activeElement);
    const keys = [...this.cards.keys()];
    const at = keys.indexOf(key);
    const next = this.cards.get(keys[at + 1] ?? keys[at - 1]);
    this.cards.delete(key);
    card.element.remove();
    if (hadFocus) next ? next.focus() : this.left();
  }
}
