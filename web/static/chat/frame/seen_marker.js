/** Marks the open session as seen on the server when its new answer is shown in a visible tab. */

import { markSeen } from "../server/sessions_api.js";

/** @import {Session, SessionState} from "../types.js" */

export class SeenMarker {
  /** @param {{session: () => Session|undefined, state: () => SessionState|null}} page what is open */
  constructor(page) {
    this.page = page;
    /** What was told last, so that it is told once. */
    this.told = "";
    document.addEventListener("visibilitychange", () => this.check());
  }

  /** Called whenever something may have changed; cheap. */
  check() {
    const session = this.page.session();
    const n = this.page.state()?.n ?? null;
    if (!session?.is_unread || n === null || document.visibilityState !== "visible") return;
    // The end that makes the session unread is not shown here yet.
    if (n < (session.n ?? 0)) return;
    const telling = `${session.id} ${n}`;
    if (this.told === telling) return;
    this.told = telling;
    // After a failure the session stays unread until the next answer or visit.
    markSeen(session.id, n).catch(() => (this.told = ""));
  }
}
