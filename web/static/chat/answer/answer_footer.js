/** The icon buttons under an answer. */

import { copyButton } from "../elements/copy_button.js";
import { h } from "../elements/element.js";
import { FeedbackView } from "./feedback_view.js";
import { t } from "../i18n.js";
import { icon } from "../elements/icons.js";
import { attachMenu } from "../elements/menu.js";
import { SiblingSwitch } from "../conversation/sibling_switch.js";
import { TimingView } from "./timing_view.js";

/** @import {Shown} from "./answer_view.js" */
/** @import {Answer, Round} from "../types.js" */

export class AnswerFooter {
  /** @param {import("./answer_view.js").AnswerActions} actions */
  constructor(actions) {
    this.actions = actions;
    /** @type {Shown} */
    this.shown = undefined;
    /** @type {Answer} */
    this.now = undefined;
    this.switch = new SiblingSwitch(actions.select);
    this.copy = copyButton(t("Copy answer"), () => this.now.text);
    this.again = this.#againButton();
    this.feedback = new FeedbackView(actions.giveFeedback);
    this.usage = new TimingView(actions.readRun);
    this.stop = h("button", { type: "button", class: "small", onclick: () => actions.stopRun(this.now.run) }, t("Stop"));
    this.choose = h("button", { type: "button", class: "small", onclick: () => actions.select(this.shown.message.id) }, t("Continue with this one"));
    this.chosen = h("span", { class: "chosen" }, icon("check"), t("The conversation continues here"));
    const small = [this.copy, this.feedback.element, this.again, this.usage.element];
    this.element = h("footer", {}, this.switch.element, h("span", { class: "actions" }, ...small), this.stop, this.choose, this.chosen);
    this.comment = this.feedback.comment;
  }

  /** @param {Shown} shown @param {Answer} now @param {boolean} isLive */
  show(shown, now, isLive) {
    [this.shown, this.now] = [shown, now];
    const { isInColumns, isCurrent, message } = shown;
    const isAside = isInColumns && !isCurrent;
    this.switch.show(message);
    if (isAside) this.switch.element.hidden = true;
    this.copy.hidden = isLive || !now.text;
    this.again.hidden = isLive || isAside;
    this.feedback.element.hidden = isLive;
    this.feedback.show(message);
    this.usage.show(isLive ? "" : now.run, timeInTools(now.rounds));
    this.stop.hidden = !(isLive && isInColumns);
    this.choose.hidden = !isAside;
    this.chosen.hidden = !isInColumns || !isCurrent;
  }

  /** Other models that could answer the same question. */
  others() {
    return this.#models().filter(({ label }) => label !== this.now.model);
  }

  #againButton() {
    const label = t("Regenerate");
    const button = h("button", { type: "button", class: "icon-button", "aria-label": label, title: label }, icon("retry"));
    attachMenu(button, () => this.#choices());
    return button;
  }

  #choices() {
    const again = { label: t("Try again"), icon: /** @type {const} */ ("retry"), hint: this.now.model, action: () => this.actions.regenerate(this.shown.message) };
    return [again, ...this.others()];
  }

  #models() {
    const ask = (/** @type {string} */ name) => this.actions.regenerate(this.shown.message, name);
    return this.actions.models().map((name) => ({ label: name, icon: /** @type {const} */ ("model"), action: () => ask(name) }));
  }
}

/** Side by side, calls take as long as the slowest. @param {Round[]} rounds */
function timeInTools(rounds) {
  return rounds.reduce((sum, { calls }) => sum + Math.max(0, ...calls.map(({ durationMs }) => durationMs ?? 0)), 0);
}
