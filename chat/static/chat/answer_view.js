/** One answer on the screen: reasoning folded, text as Markdown, errors in words, what can be done with it. */

import { isTerminal, shownBy } from "./answer.js";
import { h } from "./element.js";
import { MarkdownView } from "./markdown.js";
import { RoundsView } from "./rounds_view.js";
import { SiblingSwitch } from "./sibling_switch.js";
import { SourcesView } from "./sources_view.js";
import { inWords, statusInWords } from "./words.js";

/** @import {Answer, Message} from "./types.js" */

/**
 * @typedef {object} Shown
 * @property {Message} message
 * @property {Answer|undefined} answer  what its run wrote since the message was read
 * @property {boolean} isInColumns
 * @property {boolean} isCurrent  of several side by side: the one the conversation goes on from
 */

export class AnswerView {
  /** @param {Record<"select"|"regenerate"|"stopRun"|"announce", (value: any) => void>} actions */
  constructor(actions) {
    this.actions = actions;
    this.model = h("span", { class: "model" });
    this.status = h("span", { class: "status" });
    this.reasoning = h("div", { class: "markdown" });
    this.reasoningSummary = h("summary", {}, "Reasoning");
    this.fold = h("details", { class: "reasoning", hidden: true, ontoggle: () => this.#showReasoning() }, this.reasoningSummary, this.reasoning);
    this.rounds = new RoundsView();
    this.body = h("div", { class: "markdown body" });
    this.sources = new SourcesView();
    this.problem = h("div", { class: "problem", hidden: true });
    this.element = h(
      "article",
      { class: "message answer" },
      h("header", {}, this.model, this.status),
      this.rounds.element,
      this.fold,
      this.body,
      this.sources.element,
      this.problem,
      this.#footer(),
    );
    this.text = new MarkdownView(this.body);
    this.reasoningText = new MarkdownView(this.reasoning);
  }

  /** @param {Shown} shown */
  update(shown) {
    const before = this.shown;
    if (before && Object.keys(shown).every((name) => before[name] === shown[name])) return;
    const wasLive = before ? this.isLive : false;
    this.shown = shown;
    this.now = shown.answer ?? fromMessage(shown.message);
    this.isLive = !this.now.ended;
    this.#showHead();
    this.#showReasoning();
    this.rounds.show(this.now.rounds);
    this.text.show(this.now.text);
    this.sources.show(this.now.citations);
    this.#showProblem();
    this.#showFooter();
    if (wasLive && !this.isLive) this.actions.announce(this.#spoken());
  }

  #footer() {
    const button = (label, action, look = "quiet") => h("button", { type: "button", class: look, onclick: action }, label);
    this.switch = new SiblingSwitch(this.actions.select);
    this.again = button("Regenerate", () => this.actions.regenerate(this.shown.message));
    this.stop = button("Stop", () => this.actions.stopRun(this.now.run), "small");
    this.choose = button("Continue with this one", () => this.actions.select(this.shown.message.id), "small");
    this.chosen = h("span", { class: "chosen" }, "The conversation continues here");
    return h("footer", {}, this.switch.element, this.again, this.stop, this.choose, this.chosen);
  }

  #showHead() {
    this.model.textContent = this.now.model || "Answer";
    this.status.textContent = statusInWords(this.now);
    this.element.setAttribute("aria-label", `Answer by ${this.now.model || "the model"}`);
    this.element.setAttribute("aria-busy", String(this.isLive));
    this.element.classList.toggle("live", this.isLive);
    this.element.classList.toggle("current", this.shown.isInColumns && this.shown.isCurrent);
  }

  /** Folded reasoning costs nothing: it is rendered when it is opened. */
  #showReasoning() {
    if (!this.now) return;
    this.fold.hidden = !this.now.reasoning;
    this.reasoningSummary.textContent = this.isLive && !this.now.text ? "Reasoning…" : "Reasoning";
    if (this.fold.open) this.reasoningText.show(this.now.reasoning);
  }

  #showProblem() {
    const { error } = this.now;
    this.problem.hidden = !error;
    if (!error) return;
    const again = h("button", { type: "button", onclick: () => this.actions.regenerate(this.shown.message) }, "Try again");
    this.problem.replaceChildren(h("span", {}, inWords(error)), error.retryable && this.now.ended ? again : "");
  }

  #showFooter() {
    const { isInColumns, isCurrent, message } = this.shown;
    this.switch.show(message);
    if (isInColumns && !isCurrent) this.switch.element.hidden = true;
    this.again.hidden = this.isLive || (isInColumns && !isCurrent);
    this.stop.hidden = !(this.isLive && isInColumns);
    this.choose.hidden = !isInColumns || isCurrent;
    this.chosen.hidden = !isInColumns || !isCurrent;
  }

  #spoken() {
    const { error } = this.now;
    return `${this.now.model}: ${this.body.textContent} ${error ? inWords(error) : statusInWords(this.now)}`;
  }
}

/** @param {Message} message @returns {Partial<Answer>} */
function fromMessage(message) {
  const { model = "", run = "", status = "completed" } = message;
  return { ...shownBy(message), model, run, status, ended: isTerminal(status), position: null, quiet: false };
}
