/** The list of the user's knowledge bases, with those apart that the user is invited to. */

import { h, setChildren } from "../elements/element.js";
import { icon } from "../elements/icons.js";
import { menuButton } from "../elements/menu.js";
import { knowledgeAddress } from "../frame/address.js";
import { t } from "../i18n.js";
import { answerButtons } from "./base_actions.js";
import { isAccepted } from "./knowledge_store.js";
import { countText, indexingText, roleNames } from "./knowledge_texts.js";

/** @import {BaseActions} from "./base_actions.js" */
/** @import {KnowledgeBase} from "../types.js" */

export class BaseList {
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
