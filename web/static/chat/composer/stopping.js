/** Stops the runs that are on the screen, and knows of which a stop was asked. */

import { waiting } from "../conversation/queue.js";
import { liveAnswers } from "../state/session_state.js";

export class Stopping {
  /**
   * @param {object} page
   * @param {() => import("../types.js").SessionState|null} page.state
   * @param {(run: string) => Promise<boolean>} page.stopRun  whether it was accepted
   * @param {() => void} page.changed
   */
  constructor(page) {
    this.page = page;
    /** @type {Set<string>} */
    this.asked = new Set();
  }

  /** What is shown and being written; a question that waits for it is not stopped with it. */
  get running() {
    const state = this.page.state();
    if (!state) return [];
    const shown = new Set([...(state.branch ?? []), ...state.alongside].map(({ id }) => id));
    const queued = waiting(state);
    return liveAnswers(state).filter(({ message }) => shown.has(message) && !queued.has(message));
  }

  /** @returns {{canStop: boolean, isStopping: boolean}} */
  get now() {
    const { running } = this;
    return { canStop: running.length > 0, isStopping: running.length > 0 && running.every(({ run }) => this.asked.has(run)) };
  }

  /** @param {string} [run] left out: all that are running */
  stop(run) {
    for (const id of run ? [run] : this.running.map((answer) => answer.run)) {
      this.asked.add(id);
      this.page.stopRun(id).then((isAccepted) => isAccepted || this.asked.delete(id));
    }
    this.page.changed();
  }

  /** Another chat is open, or the server refused: what was asked is over. */
  forget() {
    this.asked.clear();
  }
}
