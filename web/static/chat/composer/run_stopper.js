/** Stops the runs on the screen, and remembers which stops were requested. */

import { waiting } from "../conversation/queue.js";
import { shownMessages } from "../state/branch.js";
import { liveAnswers } from "../state/session_state.js";

export class RunStopper {
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

  /** The runs that are shown and running; questions queued behind them are not stopped. */
  get running() {
    const state = this.page.state();
    if (!state) return [];
    const shown = new Set(shownMessages(state).map(({ id }) => id));
    const queued = waiting(state);
    return liveAnswers(state).filter(({ message }) => shown.has(message) && !queued.has(message));
  }

  /** @returns {{canStop: boolean, isStopping: boolean}} */
  get now() {
    const { running } = this;
    return {
      canStop: running.length > 0,
      isStopping: running.length > 0 && running.every(({ run }) => this.asked.has(run)),
    };
  }

  /** @param {string} [run] left out: all that are running */
  stop(run) {
    for (const id of run ? [run] : this.running.map((answer) => answer.run)) {
      this.asked.add(id);
      this.#send(id);
    }
    this.page.changed();
  }

  /** The socket is open again: the stops may have been lost with the one before. A repeated stop changes nothing. */
  reconnected() {
    const state = this.page.state();
    if (state) for (const { run } of liveAnswers(state)) if (this.asked.has(run)) this.#send(run);
  }

  /** @param {string} run */
  async #send(run) {
    if (!(await this.page.stopRun(run))) this.asked.delete(run);
  }

  /** A rejected stop can be requested again. @param {wire.Frame} frame  the commands that have an id are others */
  receive(frame) {
    // Its user may let it go on, here or elsewhere, and stop it again.
    if (frame.type === "run_continued" || (frame.type === "packet" && frame.obj.type === "stop"))
      this.asked.delete(frame.run);
    if (frame.type !== "error" || frame.id !== undefined) return;
    this.forget();
    this.page.changed();
  }

  /** Forgets the requested stops, when another chat is opened. */
  forget() {
    this.asked.clear();
  }
}
