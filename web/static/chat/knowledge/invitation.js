/** What a user answers to memberships that somebody else has made: to be a member, and as an owner, that the base may count. */

import { h } from "../elements/element.js";
import { icon } from "../elements/icons.js";
import { t } from "../i18n.js";
import { isOwned } from "./knowledge_store.js";

/** @import {BaseActions} from "./base_actions.js" */
/** @import {KnowledgeBase} from "../types.js" */

/** @param {BaseActions} actions @param {() => KnowledgeBase} base */
export function answerButtons(actions, base) {
  const accept = h(
    "button",
    { type: "button", class: "small primary", onclick: () => actions.accept(base()) },
    t("Accept"),
  );
  const decline = h("button", { type: "button", class: "small", onclick: () => actions.decline(base()) }, t("Decline"));
  return h("span", { class: "answers" }, accept, decline);
}

/** On the page of a base: what the user has not answered yet. */
export class InvitationNote {
  /** @param {BaseActions} actions */
  constructor(actions) {
    this.text = h("span");
    this.answers = answerButtons(actions, () => this.base);
    this.own = h(
      "button",
      { type: "button", class: "small", onclick: () => actions.acceptOwnership(this.base) },
      t("Accept ownership"),
    );
    this.element = h("div", { class: "invitation", hidden: true }, icon("user"), this.text, this.answers, this.own);
  }

  /** @param {KnowledgeBase} base */
  show(base) {
    this.base = base;
    this.answers.hidden = base.accepted;
    this.own.hidden = !base.accepted || !isOwned(base) || base.accepted_ownership;
    this.element.hidden = this.answers.hidden && this.own.hidden;
    this.text.textContent = base.accepted
      ? t(
          "You were made an owner. If you accept that, the knowledge base may count for your limits when the owner leaves whom it counts for.",
        )
      : t("You are invited. Once you accept, this knowledge base is offered in your chats.");
  }
}
