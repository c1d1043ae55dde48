/** Asks the user to sign in to the MCP server of a tool call. It goes on by itself then, so the card has only to lead there. */

import { h } from "../elements/element.js";
import { icon } from "../elements/icons.js";
import { visibleText } from "../elements/visible_text.js";
import { t } from "../i18n.js";
import { beginSignIn } from "../server/approvals_api.js";
import { DecisionCard, button } from "./decision_card.js";

/** @import {ToolCall} from "../types.js" */

export class SignInCard extends DecisionCard {
  /** @param {ToolCall & {signIn: SignInQuestionAnswer}} call */
  constructor({ row, signIn }) {
    const { server, again } = signIn;
    const name = visibleText(signIn.name);
    super(
      row,
      button(t("Go on without"), () => this.decide({ approved: false, ...this.noted }, t("Going on without"))),
      ...(server ? [button(t("Sign in"), () => this.#leave(server), "primary")] : []),
    );
    this.hint = h(
      "p",
      { role: "status", hidden: true },
      t("Sign in in the new tab. The answer goes on as soon as you have."),
    );
    const title = again ? t("Sign in to %(name)s again", { name }) : t("Sign in to %(name)s", { name });
    const reason = again ? h("p", {}, t("Your sign-in has expired, or this call needs more rights.")) : "";
    this.element = h(
      "section",
      { class: "approval", "aria-label": title },
      h("p", { class: "title" }, icon("user"), title),
      reason,
      this.hint,
      this.note,
      this.problem,
      this.buttons,
      this.said,
    );
  }

  /** The tab is opened by the click itself: browsers block those that are opened later. @param {string} server */
  async #leave(server) {
    this.problem.hidden = true;
    const tab = window.open("", "_blank");
    if (!tab) return this.complain(t("The browser has blocked the new tab. You can sign in on your profile too."));
    tab.opener = null;
    try {
      const { url } = await beginSignIn(server);
      tab.location.replace(url);
      this.hint.hidden = false;
    } catch (/** @type {any} */ error) {
      tab.close();
      this.refused(error);
    }
  }

  /** @param {string} text */
  end(text) {
    super.end(text);
    this.hint.hidden = true;
  }
}
