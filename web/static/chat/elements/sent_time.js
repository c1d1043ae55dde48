/** When a message was written: the time of day, of other days with the date; the whole date is the title. */

import { h } from "./element.js";
import { language } from "../i18n.js";

const CLOCK = new Intl.DateTimeFormat(language, { timeStyle: "short" });
const DAY = new Intl.DateTimeFormat(language, { day: "numeric", month: "short", hour: "numeric", minute: "2-digit" });
const DAY_OF_YEAR = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
const WHOLE = new Intl.DateTimeFormat(language, { dateStyle: "full", timeStyle: "medium" });

/** @param {Date} sent @param {Date} now */
export function sentText(sent, now) {
  if (sent.toDateString() === now.toDateString()) return CLOCK.format(sent);
  return (sent.getFullYear() === now.getFullYear() ? DAY : DAY_OF_YEAR).format(sent);
}

export class SentTime {
  constructor() {
    this.element = h("time", { class: "sent", hidden: true });
    /** @type {string|undefined} */
    this.sentAt = undefined;
  }

  /** @param {string|undefined} sentAt */
  show(sentAt) {
    if (sentAt === this.sentAt) return;
    this.sentAt = sentAt;
    this.element.hidden = !sentAt;
    if (!sentAt) return;
    this.element.dateTime = sentAt;
    this.element.title = WHOLE.format(new Date(sentAt));
    refresh(this.element);
  }
}

/** Updates the times inside when somebody comes back to the page: what was today may be yesterday. @param {HTMLElement} list */
export function keepTimes(list) {
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible")
      for (const time of list.querySelectorAll("time.sent")) refresh(/** @type {HTMLTimeElement} */ (time));
  });
}

/** @param {HTMLTimeElement} time */
function refresh(time) {
  time.textContent = sentText(new Date(time.dateTime), new Date());
}
