/** Tells the server that the open session has been read: its new answer is on a screen somebody looks at. */

import { markSeen } from "../server/sessions_api.js";

/** @import {Session, SessionState} from "../types.js" */

export class Seen {
  /** @param {{session: () => Session|undefined, state: () => SessionState|null}} page what is open */
  constructor(page) {
    this.page = page;
    /** What was told last, so that it is told once. */
    this.told = "";
    document.addEventListener("visibilitychange", () => this.check());
  }

  /** Whenever something may have changed; cheap. */
  check() {
    const session = this.page.session();
    const n = this.page.state()?.n ?? null;
    if (!session?.is_unread || n === null || document.visibilityState !== "visible") return;
    // The end that makes it unread has not been shown here yet.
    if (n < (session.n ?? 0)) return;
    const telling = `${session.id} ${n}`;
    if (this.told === telling) return;
    this.told = telling;
    // Not told: it stays marked, and the next answer or visit tells it.
    markSeen(session.id, n).catch(() => (this.told = ""));
  }
}
