/**
 * Picks the knowledge bases that are searched: in all turns of the open chat, or only for the next message. What it shows
 * is loaded when it is first opened, or something is picked.
 */

import { icon } from "../elements/icons.js";
import { closeOnLeave } from "../elements/menu.js";

/** @import {KnowledgeStore} from "./knowledge_store.js" */
/** @import {BaseChoice} from "./base_choice.js" */

export class BasePicker {
  /**
   * @param {HTMLDetailsElement} details
   * @param {object} page
   * @param {(bases: string[]) => void} page.bind  to the chat, or to the next new one
   * @param {() => Promise<KnowledgeStore>} page.store
   * @param {(error: any) => void} page.failed
   */
  constructor(details, page) {
    this.details = details;
    this.page = page;
    /** Of the chat. @type {string[]} */
    this.bound = [];
    /** For the next message alone: the answer comes from these. @type {string[]} */
    this.picked = [];
    /** @type {BaseChoice|null} */
    this.choice = null;
    details.querySelector("summary").append(icon("source"));
    closeOnLeave(details, () => this.#draw());
  }

  /** @param {string[]} bound */
  show(bound) {
    if (bound.join() === this.bound.join()) return;
    this.bound = bound;
    this.#draw();
  }

  /** @param {string[]} picked */
  pick(picked) {
    if (picked.length + this.picked.length === 0) return;
    this.picked = picked;
    this.#draw();
  }

  #draw() {
    if (this.choice) this.choice.draw();
    else this.#load().catch(() => this.page.failed({ status: 0, code: "unreachable" }));
  }

  async #load() {
    const [{ BaseChoice }, store] = await Promise.all([import("./base_choice.js"), this.page.store()]);
    this.choice ??= new BaseChoice(this, store);
    this.choice.draw();
  }
}
