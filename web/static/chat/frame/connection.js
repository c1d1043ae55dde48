/** Shows that the connection is lost or restored. Short interruptions are not shown. */

import { icon } from "../elements/icons.js";
import { t } from "../i18n.js";

const QUIET_MS = 1_000;
const BACK_MS = 2_500;

export class Connection {
  /** @param {HTMLElement} element a live region */
  constructor(element) {
    this.element = element;
    this.isConnected = true;
    /** @type {ReturnType<typeof setTimeout>|undefined} */
    this.timer = undefined;
    addEventListener("offline", () => this.#away());
    addEventListener("online", () => (this.isConnected ? this.#back() : this.#away()));
  }

  /** @param {boolean} isConnected */
  changed(isConnected) {
    const was = this.isConnected;
    this.isConnected = isConnected;
    if (isConnected) this.#back();
    // Every failed attempt reports again; only the first is counted.
    else if (was) this.#later(QUIET_MS, () => this.#away());
  }

  #away() {
    clearTimeout(this.timer);
    this.#show(navigator.onLine ? t("Reconnecting…") : t("Offline"), "away");
    this.element.prepend(icon("offline"));
  }

  #back() {
    clearTimeout(this.timer);
    if (!this.element.textContent) return;
    this.#show(t("Connected again"), "back");
    this.#later(BACK_MS, () => this.#show("", ""));
  }

  /** @param {string} text @param {""|"away"|"back"} state */
  #show(text, state) {
    this.element.textContent = text;
    this.element.dataset.state = state;
  }

  /** @param {number} ms @param {() => void} action */
  #later(ms, action) {
    clearTimeout(this.timer);
    this.timer = setTimeout(action, ms);
  }
}
