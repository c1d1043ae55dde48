/** The choice below the search: which tag the chats of the list have. Hidden while no chat has any. */

import { h } from "../elements/element.js";
import { t } from "../i18n.js";
import { RepeatedRead } from "../server/list_store.js";
import { readTags } from "./tags_api.js";
import { hasTag } from "../sessions/session_store.js";

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
