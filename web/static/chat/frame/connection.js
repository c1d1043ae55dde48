/** Shows that the connection is lost or restored. Short interruptions are not shown. */

import { icon } from "../elements/icons.js";
import { t } from "../i18n.js";
import { redirectToLogin } from "./login_redirect.js";

const GRACE_MS = 1_000;
const RESTORED_MS = 2_500;

export class Connection {
  /** @param {HTMLElement} element a live region @param {() => void} restored */
  constructor(element, restored) {
    this.element = element;
    this.restored = restored;
    this.isConnected = true;
    /** @type {ReturnType<typeof setTimeout>|undefined} */
    this.timer = undefined;
    addEventListener("offline", () => this.#showLost());
    addEventListener("online", () => (this.isConnected ? this.#showRestored() : this.#showLost()));
  }

  /** @param {"connected"|"connecting"|"refused"|"signed_out"} state of the socket */
  follow(state) {
    if (state === "signed_out") redirectToLogin();
    if (state === "refused") this.#refused();
    else this.#changed(state === "connected");
  }

  /** @param {boolean} isConnected */
  #changed(isConnected) {
    const wasConnected = this.isConnected;
    this.isConnected = isConnected;
    if (isConnected) this.#showRestored();
    // Every failed attempt reports again; only the first is counted.
    else if (wasConnected) this.#later(GRACE_MS, () => this.#showLost());
  }

  /** Other windows of the user take all connections; the page says so until it is connected. */
  #refused() {
    this.isConnected = false;
    clearTimeout(this.timer);
    this.#show(t("Not connected: too many windows"), "away");
    this.element.prepend(icon("offline"));
  }

  #showLost() {
    clearTimeout(this.timer);
    this.#show(navigator.onLine ? t("Reconnecting…") : t("Offline"), "away");
    this.element.prepend(icon("offline"));
  }

  #showRestored() {
    clearTimeout(this.timer);
    this.restored();
    if (!this.element.textContent) return;
    this.#show(t("Connected again"), "back");
    this.#later(RESTORED_MS, () => this.#show("", ""));
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
