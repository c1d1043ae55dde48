/** Sends the user to an address that the server of a tool call asks for, and goes on when they say that they are done there. */

import { h } from "../elements/element.js";
import { icon } from "../elements/icons.js";
import { shown, visibleText } from "../elements/visible_text.js";
import { t } from "../i18n.js";
import { DecisionCard, button } from "./decision_card.js";
import { nameOf } from "./tool_cards.js";

/** @import {ToolCall} from "../types.js" */

export class AddressCard extends DecisionCard {
  /** @param {ToolCall & {address: AddressQuestionAnswer}} call */
  constructor({ row, name, address }) {
    super(
      row,
      button(t("Go on without"), () => this.decide({ approved: false, ...this.noted }, t("Going on without"))),
      button(t("Done"), () => this.decide({ approved: true, ...this.noted }, t("Answered")), "primary"),
    );
    const title = t("%(name)s sends you to a page", { name: visibleText(nameOf(name)) });
    this.element = h(
      "section",
      { class: "question-card", "aria-label": title },
      h("p", { class: "title" }, icon("user"), title),
      h("p", { class: "message", dir: "auto" }, shown(address.message)),
      h("p", { class: "message", dir: "ltr" }, linkTo(address.url)),
      this.note,
      this.problem,
      this.buttons,
      this.said,
    );
  }
}

/** As browsers write it: a host that looks like another is seen. @param {string} url */
function linkTo(url) {
  if (!URL.canParse(url)) return shown(url);
  const { href } = new URL(url);
  return h("a", { href, target: "_blank", rel: "noopener noreferrer" }, href);
}
