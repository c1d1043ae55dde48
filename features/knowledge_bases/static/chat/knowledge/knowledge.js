/** Knowledge bases on the page. What shows them is loaded when they are first opened, or picked for a chat. */

/** @import {KnowledgeSection} from "./knowledge_section.js" */
/** @import {MenuItem} from "../elements/menu.js" */

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
