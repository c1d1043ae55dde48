/** The search field above the list; searches titles and messages. */

import { isComposing } from "../elements/composition.js";
import { t, tn } from "../i18n.js";

const PAUSE_MS = 200;

export class SessionSearch {
  /**
   * @param {{field: HTMLInputElement, status: HTMLElement}} parts status: a live region that announces the results
   * @param {import("./session_store.js").SessionStore} store
   * @param {() => void} toList
   */
  constructor({ field, status }, store, toList) {
    this.field = field;
    this.status = status;
    this.store = store;
    this.timer = 0;
    field.addEventListener("input", () => this.#onInput());
    field.addEventListener("keydown", (event) => this.#key(event, toList));
  }

  #onInput() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#search(), this.field.value.trim() ? PAUSE_MS : 0);
  }

  async #search() {
    await this.store.search(this.field.value.trim());
    const { found } = this.store;
    if (!found) this.status.textContent = "";
    else if (found.next)
      this.status.textContent = t("More than %(count)s chats found", { count: found.sessions.length });
    else this.status.textContent = tn("%(count)s chat found", "%(count)s chats found", found.sessions.length);
  }

  /** @param {KeyboardEvent} event @param {() => void} toList */
  #key(event, toList) {
    if (isComposing(event)) return;
    if (event.key === "ArrowDown") {
      event.preventDefault();
      toList();
    }
    if (event.key === "Escape" && this.field.value) {
      event.stopPropagation(); // it would close the drawer
      this.field.value = "";
      this.#onInput();
    }
  }
}
