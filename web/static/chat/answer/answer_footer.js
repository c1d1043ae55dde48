/** The icon buttons under an answer. */

import { copyButton } from "../elements/copy_button.js";
import { h } from "../elements/element.js";
import { FeedbackView } from "./feedback_view.js";
import { t } from "../i18n.js";
import { icon } from "../elements/icons.js";
import { attachMenu } from "../elements/menu.js";
import { versionsOf } from "../state/columns.js";
import { readableText } from "../state/passages.js";
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
    this.switch = new SiblingSwitch((id) => (this.#isAside ? actions.peek(id) : actions.select(id)));
    this.copy = copyButton(t("Copy answer"), () => readableText(this.now));
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
    const isAside = this.#isAside;
    this.switch.show(message, versionsOf(message, isAside));
    this.copy.hidden = isLive || !now.text;
    this.again.hidden = isLive;
    this.feedback.element.hidden = isLive;
    this.feedback.show(message);
    this.usage.show(isLive ? "" : now.run, timeInTools(now.rounds));
    this.stop.hidden = !(isLive && isInColumns);
    this.choose.hidden = !isAside;
    this.chosen.hidden = !isInColumns || !isCurrent;
  }

  /** Beside the answer that the conversation goes on from. */
  get #isAside() {
    return this.shown.isInColumns && !this.shown.isCurrent;
  }

  /** Writes the answer again; side by side, in its column. @param {string} [model] left out: the one that answered */
  regenerate(model) {
    this.actions.regenerate(this.shown.message, model, this.shown.isInColumns);
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
    const again = { label: t("Try again"), icon: /** @type {const} */ ("retry"), hint: this.now.model, action: () => this.regenerate() };
    return [again, ...this.others()];
  }

  #models() {
    const ask = (/** @type {string} */ name) => this.regenerate(name);
    return this.actions.models().map((name) => ({ label: name, icon: /** @type {const} */ ("model"), action: () => ask(name) }));
  }
}

/** Side by side, calls take as long as the slowest. @param {Round[]} rounds */
function timeInTools(rounds) {
  return rounds.reduce((sum, { calls }) => sum + Math.max(0, ...calls.map(({ durationMs }) => durationMs ?? 0)), 0);
}
