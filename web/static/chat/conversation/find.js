/** Finding in the open chat: the entry of its menu, and what a search in all chats has found there. The bar is loaded with the first use. */

import { t } from "../i18n.js";

/** @import {FindBar, Page} from "./find_bar.js" */

export class Find {
  /** @param {HTMLElement} below @param {() => string|null} session the open one @param {Page} page */
  constructor(below, session, page) {
    this.below = below;
    this.session = session;
    this.page = page;
    /** @type {FindBar|null} */
    this.bar = null;
  }

  /** @returns {import("../elements/menu.js").MenuItem} */
  item() {
    return { label: t("Find in this chat"), icon: "search", action: () => this.#open().then((bar) => bar?.focus()) };
  }

  /** A chat, or another message of it, is opened. @param {string|null} message that was found @param {string} query */
  opened(message, query) {
    if (this.bar && this.bar.session !== this.session()) {
      this.bar.close();
      this.bar = null;
    }
    this.page.seek(message, query);
    if (message && query) this.#open().then((bar) => bar?.begin(query, message));
  }

  /** @returns {Promise<FindBar|null>} null: it could not be loaded, or another chat is open by now */
  async #open() {
    const session = this.session();
    try {
      const { FindBar } = await import("./find_bar.js");
      if (session === null || session !== this.session()) return null;
      if (!this.bar?.element.isConnected) this.bar = new FindBar(this.below, session, this.page);
      return this.bar;
    } catch (error) {
      this.page.failed(error);
      return null;
    }
  }
}
