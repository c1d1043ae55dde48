/** The section of knowledge bases: all of them, or one, and what is done with them. Loaded when it is first needed. */

import { knowledgeAddress } from "../frame/address.js";
import { h } from "../elements/element.js";
import { t } from "../i18n.js";
import { BaseActions } from "./base_actions.js";
import { BaseList } from "./base_list.js";
import { BaseView } from "./base_view.js";
import { KnowledgeStore } from "./knowledge_store.js";

export class KnowledgeSection {
  /**
   * @param {HTMLElement} element
   * @param {object} page
   * @param {(address: string) => void} page.open
   * @param {() => void} page.changed
   * @param {(text: string) => void} page.announce
   * @param {(action: () => Promise<any>) => Promise<boolean>} page.attempt
   * @param {(error: any) => void} page.failed
   */
  constructor(element, page) {
    this.element = element;
    this.page = page;
    /** @type {string|null} */
    this.open = null;
    this.store = new KnowledgeStore(page.failed);
    this.actions = new BaseActions(this.store, {
      ...page,
      open: (/** @type {string} */ base) => page.open(knowledgeAddress(base)),
    });
    this.list = new BaseList(this.actions);
    this.back = h("a", { class: "back", href: knowledgeAddress() }, t("All knowledge bases"));
    this.view = new BaseView(this.store, this.actions, page);
    element.append(this.list.element, this.back, this.view.element);
    this.store.listeners.add(() => this.#draw());
  }

  get place() {
    const base = this.store.get(this.open);
    if (this.open === "") return { title: t("Knowledge"), items: [] };
    return base && { title: base.name, items: this.actions.items(base) };
  }

  /** @param {string|null} open */
  show(open) {
    if (open !== this.open) this.element.scrollTop = 0;
    // No event tells of invitations.
    if (open === "" && this.open !== null) void this.store.refresh();
    this.open = open;
    this.#draw();
  }

  /** @param {wire.Frame} frame */
  receive(frame) {
    this.store.receive(frame);
    this.view.receive(frame);
  }

  #draw() {
    const { rows } = this.store;
    const base = this.store.get(this.open);
    if (this.open && rows && !base) return this.page.open(knowledgeAddress());
    this.list.element.hidden = this.open !== "";
    this.back.hidden = !base;
    if (this.open === "") this.list.show(rows);
    if (base) this.view.show(base);
    else this.view.hide();
    this.page.changed();
  }
}
