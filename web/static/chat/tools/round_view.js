/** One round of tools in an opened timeline: the reasoning before it, and its calls. */

import { Calls } from "./call_view.js";
import { h } from "../elements/element.js";
import { ReasoningView } from "../answer/reasoning_view.js";

/** @import {Round} from "../types.js" */

export class RoundView {
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
