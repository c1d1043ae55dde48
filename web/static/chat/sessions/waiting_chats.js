/** How many chats wait for their user: as a link above their list, which leads to one of them, and in the title of the tab. */

import { h } from "../elements/element.js";
import { sessionAddress } from "../frame/address.js";
import { tn } from "../i18n.js";

/** @import {Session} from "../types.js" */

export class WaitingChats {
  /** @param {HTMLElement} element a live region */
  constructor(element) {
    this.element = element;
    this.link = h("a", {});
    /** How many there are. */
    this.count = 0;
  }

  /** @param {Session[]} waiting */
  show(waiting) {
    if (waiting.length > 0) this.link.href = sessionAddress(waiting[0].id);
    if (waiting.length === this.count) return;
    this.count = waiting.length;
    this.link.textContent = tn("%(count)s chat waits for you", "%(count)s chats wait for you", this.count);
    this.element.replaceChildren(...(this.count > 0 ? [this.link] : []));
  }
}

/** @param {string} title @param {number} count */
export const titleWith = (title, count) =>
  count > 0 ? `(${tn("%(count)s waits", "%(count)s wait", count)}) ${title}` : title;
