/** The tags of chats: the choice of one below the search, those of the open chat in the bar, and the REST calls. */

import { h } from "../elements/element.js";
import { t } from "../i18n.js";
import { RepeatedRead } from "../server/list_store.js";
import { hasTag } from "../sessions/session_store.js";
import { call } from "../server/api.js";

/** The choice below the search: which tag the chats of the list have. Hidden while no chat has any. */
export class TagFilter {
  /**
   * @param {HTMLSelectElement} field
   * @param {import("../sessions/session_store.js").SessionStore} store
   * @param {(text: string) => void} announce
   */
  constructor(field, store, announce) {
    this.field = field;
    this.store = store;
    this.announce = announce;
    /** As far as they were read. @type {string[]} */
    this.names = [];
    // A tag that could not be read is offered with the next read.
    this.reading = new RepeatedRead(async () => {
      this.names = (await readTags().catch(() => this.names.map((name) => ({ name })))).map(({ name }) => name);
      this.#draw();
    });
    field.addEventListener("change", () => this.choose(field.value));
    field.addEventListener("focus", () => void this.reading.ask());
    this.#draw();
  }

  /** Shows the chats with this tag alone. @param {string} tag empty: all */
  async choose(tag) {
    await this.store.filter(tag);
    if (this.store.searched) await this.store.search(this.store.searched);
    this.#draw();
    this.announce(tag ? t("Chats with the tag “%(tag)s”", { tag }) : t("All chats"));
  }

  /** One object from the socket. @param {wire.Frame} frame */
  receive(frame) {
    const isNew =
      frame.type === "session_changed" &&
      (frame.tags ?? []).some((/** @type {string} */ tag) => !hasTag(this.names, tag));
    if (isNew || ["sessions_watched", "sessions_resync", "tag_changed"].includes(frame.type)) void this.reading.ask();
  }

  #draw() {
    const { tag } = this.store;
    const names = tag && !hasTag(this.names, tag) ? [tag, ...this.names] : this.names;
    const wanted = ["", ...names];
    // An open choice is not replaced while it is the same.
    if (wanted.join("\n") !== [...this.field.options].map(({ value }) => value).join("\n")) {
      this.field.replaceChildren(
        h("option", { value: "" }, t("All chats")),
        ...names.map((name) => h("option", { value: name }, name)),
      );
    }
    this.field.value = names.find((name) => hasTag([name], tag)) ?? "";
    this.field.hidden = names.length === 0;
    this.field.classList.toggle("chosen", Boolean(tag));
  }
}

/** @param {HTMLElement} list @param {string[]} tags @param {(tag: string) => void} choose */
export function showTags(list, tags, choose) {
  list.hidden = tags.length === 0;
  if (list.dataset.tags === tags.join("\n")) return;
  list.dataset.tags = tags.join("\n");
  const chip = (/** @type {string} */ tag) =>
    h(
      "button",
      {
        type: "button",
        class: "tag",
        dir: "auto",
        title: t("Chats with the tag “%(tag)s”", { tag }),
        onclick: () => choose(tag),
      },
      tag,
    );
  list.replaceChildren(...tags.map((tag) => h("li", {}, chip(tag))));
}

/** @typedef {TagAnswer} Tag */

/** @returns {Promise<Tag[]>} in the order of the alphabet */
export const readTags = () => call("GET", "tags/");

/** In all chats. @param {string} tag @param {string} name @returns {Promise<Tag>} */
export const renameTag = (tag, name) => call("PATCH", "tags/", { tag, name });

/** From all chats. @param {string} tag */
export const deleteTag = (tag) => call("DELETE", `tags/?${new URLSearchParams({ tag })}`);
