/** Marks the open session as seen on the server when its new answer is shown in a visible tab. */

import { markSeen } from "../server/sessions_api.js";

/** @import {Session, SessionState} from "../types.js" */

export class SeenMarker {
  /** @param {{session: () => Session|undefined, state: () => SessionState|null}} page what is open */
  constructor(page) {
    this.page = page;
    /** The session and event sent last, so that each is sent once. */
    this.lastSent = "";
    document.addEventListener("visibilitychange", () => this.check());
  }

  /** Called whenever something may have changed; cheap. */
  check() {
    const session = this.page.session();
    const n = this.page.state()?.n ?? null;
    if (!session?.is_unread || n === null || document.visibilityState !== "visible") return;
    // The event that makes the session unread is not shown here yet.
    if (n < (session.n ?? 0)) return;
    const state = `${session.id} ${n}`;
    if (this.lastSent === state) return;
    this.lastSent = state;
    // After a failure the session stays unread until the next answer or visit.
    markSeen(session.id, n).catch(() => (this.lastSent = ""));
  }
}
