/** Knowledge bases on the page. What shows them is loaded when they are first opened, or picked for a chat. */

import { icon } from "../elements/icons.js";
import { closeOnLeave } from "../elements/menu.js";

/** @import {KnowledgeSection} from "./knowledge_section.js" */
/** @import {MenuItem} from "../elements/menu.js" */
/** @import {KnowledgeStore} from "./knowledge_store.js" */
/** @import {BaseChoice} from "./base_choice.js" */

export class Knowledge {
  /**
   * @param {{view: HTMLElement, link: HTMLElement}} parts
   * @param {object} page
   * @param {(address: string) => void} page.open
   * @param {() => void} page.changed
   * @param {(text: string) => void} page.announce
   * @param {(action: () => Promise<any>) => Promise<boolean>} page.attempt
   * @param {(error: any) => void} page.failed
   */
  constructor(parts, page) {
    this.parts = parts;
    this.page = page;
    /** The id of the base whose page is shown; empty: all of them; null: neither. @type {string|null} */
    this.open = null;
    /** @type {KnowledgeSection|null} */
    this.section = null;
    /** @type {Promise<KnowledgeSection>|null} */
    this.loading = null;
  }

  /** The title and the menu of what is shown, once it is known. @returns {{title: string, items: MenuItem[]}|undefined} */
  get place() {
    return this.open === null ? undefined : this.section?.place;
  }

  /** @param {string|null} open */
  show(open) {
    const { view, link } = this.parts;
    this.open = open;
    view.hidden = open === null;
    if (open === null) link.removeAttribute("aria-current");
    else link.setAttribute("aria-current", "page");
    if (this.section) this.section.show(open);
    else if (open !== null) this.load().then((section) => section.show(this.open), this.page.failed);
    this.page.changed();
  }

  /** @returns {Promise<KnowledgeSection>} */
  load() {
    return (this.loading ??= this.#load());
  }

  async #load() {
    try {
      const { KnowledgeSection } = await import("./knowledge_section.js");
      return (this.section = new KnowledgeSection(this.parts.view, this.page));
    } catch {
      this.loading = null;
      throw { status: 0, code: "unreachable" };
    }
  }

  /** One object from the socket. @param {wire.Frame} frame */
  receive(frame) {
    this.section?.receive(frame);
  }
}

/**
 * Picks the knowledge bases that are searched: in all turns of the open chat, or only for the next message. What it
 * shows is loaded when it is first opened, or something is picked.
 */
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
