/** The section of knowledge bases: all of them, or one, and what is done with them. Loaded when it is first needed. */

import { knowledgeAddress } from "../frame/address.js";
import { h, setChildren } from "../elements/element.js";
import { t } from "../i18n.js";
import { BaseActions, answerButtons } from "./base_actions.js";
import { BaseView } from "./base_view.js";
import { KnowledgeStore, isAccepted, countText, indexingText, roleNames } from "./knowledge_store.js";
import { icon } from "../elements/icons.js";
import { menuButton } from "../elements/menu.js";

/** @import {KnowledgeBase} from "../types.js" */

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

/** The list of the user's knowledge bases, with those apart that the user is invited to. */
class BaseList {
  /** @param {BaseActions} actions */
  constructor(actions) {
    this.actions = actions;
    /** @type {Map<string, BaseRow>} */
    this.rows = new Map();
    const create = h(
      "button",
      { type: "button", class: "primary small", onclick: () => actions.create() },
      icon("plus"),
      t("New knowledge base"),
    );
    this.list = h("ul", { class: "base-rows", "aria-label": t("Knowledge bases") });
    this.invited = h("ul", { class: "base-rows", "aria-label": t("Invitations") });
    this.invitations = h("div", { class: "invitations", hidden: true }, h("h2", {}, t("Invitations")), this.invited);
    this.none = h(
      "p",
      { class: "hint", hidden: true },
      t("A knowledge base holds documents that models search for their answers. You decide who else may use it."),
    );
    this.element = h(
      "div",
      { class: "knowledge-part" },
      this.invitations,
      h("div", { class: "line" }, h("h2", {}, t("Knowledge bases")), create),
      this.none,
      this.list,
    );
  }

  /** @param {KnowledgeBase[]|null} bases null: not read yet */
  show(bases) {
    this.element.ariaBusy = String(!bases);
    const known = bases ?? [];
    this.rows = new Map(known.map((base) => [base.id, this.rows.get(base.id) ?? new BaseRow(this.actions)]));
    for (const base of known) this.rows.get(base.id).show(base);
    const elements = (/** @type {KnowledgeBase[]} */ shown) => shown.map(({ id }) => this.rows.get(id).element);
    const accepted = known.filter(isAccepted);
    const invited = known.filter((base) => !isAccepted(base));
    setChildren(this.list, elements(accepted));
    setChildren(this.invited, elements(invited));
    this.invitations.hidden = invited.length === 0;
    this.list.hidden = accepted.length === 0;
    this.none.hidden = !bases || accepted.length > 0;
  }
}

class BaseRow {
  /** @param {BaseActions} actions */
  constructor(actions) {
    this.name = h("span", { class: "title" });
    this.about = h("span", { class: "about" });
    this.note = h("small", { class: "hint" });
    this.link = h("a", {}, icon("source"), h("span", { class: "face" }, this.name, this.about, this.note));
    this.menu = menuButton("", () => actions.items(this.base));
    this.answers = answerButtons(actions, () => this.base);
    this.element = h("li", {}, this.link, this.answers, this.menu);
  }

  /** @param {KnowledgeBase} base */
  show(base) {
    this.base = base;
    const { id, name, summary, routing_hint: hint, role, owner } = base;
    this.link.href = knowledgeAddress(id);
    this.name.textContent = name;
    this.about.textContent = summary || hint;
    this.about.hidden = !this.about.textContent;
    const whose =
      role === "owner" ? roleNames().owner : t("%(role)s · by %(owner)s", { role: roleNames()[role], owner });
    this.note.textContent = [whose, countText(base), indexingText(base) && t("indexing…")].filter(Boolean).join(" · ");
    this.answers.hidden = isAccepted(base);
    this.menu.hidden = !isAccepted(base);
    this.menu.title = t("Actions");
    this.menu.setAttribute("aria-label", t("Actions for “%(title)s”", { title: name }));
  }
}
