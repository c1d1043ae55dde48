/** The connection to the server, what fails, and the ways to the login page. */

import { icon } from "../elements/icons.js";
import { t } from "../i18n.js";

const GRACE_MS = 1_000;
const RESTORED_MS = 2_500;

/** Shows that the connection is lost or restored. Short interruptions are not shown. */
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

// The user's own logout closes the socket, too, which must not look like a login that has expired.
let isLeaving = false;

/** Redirects to the login page, which says that the login has ended; after the next one the same chat is open again. */
function redirectToLogin() {
  if (!isLeaving)
    location.assign(`/login/?notice=expired&next=${encodeURIComponent(location.pathname + location.hash)}`);
}

/** @param {HTMLFormElement} form */
export function logOut(form) {
  isLeaving = true;
  form.submit();
}

/**
 * Reports what fails: in the notice, or by the login page once the login has ended. Its functions may be passed on, or
 * both at once: `...failures`.
 */
export class Failures {
  /** @param {import("../elements/notices.js").Notice} notice */
  constructor(notice) {
    /** @param {{status?: number, code?: string, message?: string}} error */
    this.failed = (error) => {
      if (error.status === 401) redirectToLogin();
      else notice.show(error);
    };
    /** Whether the action succeeded. @param {() => Promise<any>} action @returns {Promise<boolean>} */
    this.attempt = async (action) => {
      try {
        await action();
        return true;
      } catch (error) {
        this.failed(error);
        return false;
      }
    };
  }
}
