/** The icon buttons under an answer, among them that of its timing and usage. */

import { copyButton } from "../elements/copy_button.js";
import { assign, h } from "../elements/element.js";
import { FeedbackView } from "../feedback/feedback_view.js";
import { t } from "../i18n.js";
import { icon, iconButton } from "../elements/icons.js";
import { attachMenu, menuButton } from "../elements/menu.js";
import { removal } from "../sessions/deletion.js";
import { canReadAloud, isReading, toggleReading } from "./read_aloud.js";
import { withPlaces, readableText } from "../state/answer_text.js";
import { versionsOf } from "../state/branch.js";
import { SentTime } from "../elements/sent_time.js";
import { SiblingSwitch } from "../conversation/versions.js";

/** @import {Shown} from "./answer_view.js" */
/** @import {Answer, Round} from "../types.js" */
/** @import {TimingCard} from "./timing_card.js" */

export class AnswerFooter {
  /** @param {import("./answer_view.js").AnswerActions} actions @param {() => void} edit  opens the editor of the answer */
  constructor(actions, edit) {
    this.actions = actions;
    this.edit = edit;
    /** @type {Shown} */
    this.shown = undefined;
    /** @type {Answer} */
    this.now = undefined;
    this.switch = new SiblingSwitch((id) => (this.#isAside ? actions.peek(id) : actions.select(id)));
    this.copy = copyButton(t("Copy answer"), () => withPlaces(readableText(this.now), this.now.citations));
    this.again = this.#againButton();
    this.feedback = new FeedbackView(actions.giveFeedback);
    this.usage = new TimingView(actions.readRun);
    this.stop = h(
      "button",
      { type: "button", class: "small", onclick: () => actions.stopRun(this.now.run) },
      t("Stop"),
    );
    this.choose = h(
      "button",
      { type: "button", class: "small", onclick: () => actions.select(this.shown.message.id) },
      t("Continue with this one"),
    );
    this.chosen = h("span", { class: "chosen" }, icon("check"), t("The conversation continues here"));
    this.sent = new SentTime();
    this.more = menuButton(t("More actions"), () => this.#items());
    const small = [this.copy, this.feedback.element, this.again, this.usage.element, this.more];
    this.element = h(
      "footer",
      {},
      this.switch.element,
      h("span", { class: "actions" }, ...small),
      this.sent.element,
      this.stop,
      this.choose,
      this.chosen,
    );
    this.comment = this.feedback.comment;
  }

  /** @param {Shown} shown @param {Answer} now @param {boolean} isLive */
  show(shown, now, isLive) {
    [this.shown, this.now] = [shown, now];
    const { isInColumns, isCurrent, message } = shown;
    const isAside = this.#isAside;
    this.sent.show(message.sent_at);
    this.switch.show(message, versionsOf(message, isAside));
    assign(this.copy, { hidden: isLive || !now.text });
    for (const element of [this.again, this.more]) assign(element, { hidden: isLive });
    assign(this.feedback.element, { hidden: isLive || message.edited_from !== undefined });
    this.feedback.show(message);
    this.usage.show(isLive ? "" : now.run, timeInTools(now.rounds));
    assign(this.stop, { hidden: !(isLive && isInColumns) });
    assign(this.choose, { hidden: !isAside });
    assign(this.chosen, { hidden: !isInColumns || !isCurrent });
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
    const button = iconButton(t("Regenerate"), "retry");
    attachMenu(button, () => this.#choices());
    return button;
  }

  /** What is wanted less often. */
  #items() {
    const answer = /** @type {HTMLElement} */ (this.element.closest("article"));
    const words = isReading(answer) ? t("Stop reading aloud") : t("Read aloud");
    const aloud = { label: words, icon: /** @type {const} */ ("speaker"), action: () => toggleReading(answer) };
    const fork = {
      label: t("Fork from here"),
      icon: /** @type {const} */ ("branch"),
      hint: t("A new chat with everything up to this answer"),
      action: () => this.actions.fork(this.shown.message.id),
    };
    const edit = {
      label: t("Edit answer"),
      icon: /** @type {const} */ ("edit"),
      hint: t("Your text is kept beside it"),
      action: this.edit,
    };
    const remove = { ...removal(), isFirst: true, action: () => this.actions.remove(this.shown.message.id) };
    return [...(this.now.text.trim() ? [edit] : []), fork, ...(canReadAloud() ? [aloud] : []), remove];
  }

  #choices() {
    const again = {
      label: t("Try again"),
      icon: /** @type {const} */ ("retry"),
      hint: this.now.model,
      action: () => this.regenerate(),
    };
    return [again, ...this.others()];
  }

  #models() {
    const ask = (/** @type {string} */ name) => this.regenerate(name);
    return this.actions
      .models()
      .map((name) => ({ label: name, icon: /** @type {const} */ ("model"), action: () => ask(name) }));
  }
}

/** Side by side, calls take as long as the slowest. @param {Round[]} rounds */
function timeInTools(rounds) {
  return rounds.reduce((sum, { calls }) => sum + Math.max(0, ...calls.map(({ durationMs }) => durationMs ?? 0)), 0);
}

/** The button that shows the timing and usage of an answer. The card is loaded when it is first opened. */
export class TimingView {
  /** @param {(run: string) => Promise<import("./timing_card.js").RunUsage>} readRun */
  constructor(readRun) {
    this.readRun = readRun;
    this.run = "";
    this.toolsMs = 0;
    this.button = iconButton(t("Usage and timing"), "info", () => this.#toggle(), { "aria-expanded": "false" });
    this.element = h("span", { class: "timing" }, this.button);
    /** @type {TimingCard|undefined} */
    this.card = undefined;
  }

  /** @param {string} run empty: nothing is known yet @param {number} toolsMs of its time, spent in tools */
  show(run, toolsMs) {
    [this.run, this.toolsMs] = [run, toolsMs];
    assign(this.button, { hidden: !run });
  }

  async #toggle() {
    const module = await import("./timing_card.js").catch(() => /** @type {any} */ (null));
    if (!module) return; // offline; the button can be pressed again
    this.card ??= new module.TimingCard(this);
    await this.card.toggle();
  }
}
