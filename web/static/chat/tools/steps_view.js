/** Tool rounds as one line that expands to a timeline of reasoning, calls and results. */

import { Calls } from "./call_view.js";
import { h, setChildren } from "../elements/element.js";
import { icon } from "../elements/icons.js";
import { ReasoningView } from "../answer/reasoning_view.js";
import { stepsText, wordsOf } from "./tool_texts.js";

/** @import {Round} from "../types.js" */

export class StepsView {
  /** @param {import("./call_view.js").ReadWhole} readWhole */
  constructor(readWhole) {
    this.readWhole = readWhole;
    /** Whose icon it has. @type {import("../elements/icons.js").IconName|undefined} */
    this.marked = undefined;
    this.mark = h("span", { class: "tool-mark" });
    this.line = h("span", { class: "line" });
    this.list = h("ol", { class: "timeline" });
    this.element = h("details", { class: "steps", ontoggle: () => this.#showRounds() },
      h("summary", {}, this.mark, this.line, icon("chevronDown")), this.list);
    /** @type {RoundView[]} */
    this.views = [];
    /** @type {Round[]} */
    this.rounds = [];
  }

  /** @param {Round[]} rounds */
  show(rounds) {
    if (rounds.length === this.rounds.length && rounds.every((round, i) => round === this.rounds[i])) return;
    this.rounds = rounds;
    const calls = rounds.flatMap((round) => round.calls);
    this.element.classList.toggle("running", calls.some(({ status }) => status === "running"));
    this.line.textContent = calls.length ? stepsText(rounds) : "";
    this.#showMark(calls);
    this.#showRounds();
  }

  /** @param {import("../types.js").ToolCall[]} calls */
  #showMark(calls) {
    const names = new Set(calls.map(({ name }) => name));
    const name = names.size === 1 ? wordsOf(calls[0].name).icon : "tool";
    if (name === this.marked) return;
    this.marked = name;
    this.mark.replaceChildren(icon(name));
  }

  /** A collapsed timeline renders only its line. */
  #showRounds() {
    if (!this.element.open) return;
    this.views = this.rounds.map((_, i) => this.views[i] ?? new RoundView(this.readWhole));
    this.rounds.forEach((round, i) => this.views[i].show(round));
    setChildren(this.list, this.views.map(({ element }) => element));
  }
}

class RoundView {
  /** @param {import("./call_view.js").ReadWhole} readWhole */
  constructor(readWhole) {
    /** @type {Round|undefined} */
    this.round = undefined;
    const list = h("div", { class: "calls" });
    this.reasoning = new ReasoningView();
    this.calls = new Calls(list, readWhole);
    this.element = h("li", { class: "round" }, this.reasoning.element, list);
  }

  /** @param {Round} round */
  show(round) {
    if (round === this.round) return;
    this.round = round;
    this.reasoning.show({ text: round.reasoning, ms: round.reasoningMs, isThinking: false });
    this.calls.show(round.calls);
  }
}
