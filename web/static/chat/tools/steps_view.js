/**
 * Tool rounds as one line that expands to a timeline of reasoning, calls and results. The timeline is loaded with the
 * first one that is opened.
 */

import { h, setChildren } from "../elements/element.js";
import { icon } from "../elements/icons.js";
import { showText } from "../elements/visible_text.js";
import { apiErrorText } from "../answer/status_texts.js";
import { stepsText, cardOf } from "./tool_texts.js";

/** @import {RoundView} from "./call_view.js" */
/** @import {Round} from "../types.js" */

/** @type {typeof RoundView|undefined} */
let LoadedView;

export class StepsView {
  /** @param {import("./call_view.js").ReadWhole} readWhole */
  constructor(readWhole) {
    this.readWhole = readWhole;
    /** Whose icon it has. @type {import("../elements/icons.js").IconName|undefined} */
    this.marked = undefined;
    this.mark = h("span", { class: "tool-mark" });
    this.line = h("span", { class: "line" });
    this.list = h("ol", { class: "timeline" });
    this.element = h(
      "details",
      { class: "steps", ontoggle: () => this.#showRounds() },
      h("summary", {}, this.mark, this.line, icon("chevronDown")),
      this.list,
    );
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
    this.element.classList.toggle(
      "running",
      calls.some(({ status }) => status === "running"),
    );
    showText(this.line, calls.length ? stepsText(rounds) : "");
    this.#showMark(calls);
    this.#showRounds();
  }

  /** @param {import("../types.js").ToolCall[]} calls */
  #showMark(calls) {
    const names = new Set(calls.map(({ name }) => name));
    const name = names.size === 1 ? cardOf(calls[0].name).icon : "tool";
    if (name === this.marked) return;
    this.marked = name;
    this.mark.replaceChildren(icon(name));
  }

  /** A collapsed timeline renders only its line. */
  #showRounds() {
    if (!this.element.open) return;
    if (!LoadedView) {
      void this.#load();
      return;
    }
    this.views = this.rounds.map((_, i) => this.views[i] ?? new LoadedView(this.readWhole));
    this.rounds.forEach((round, i) => this.views[i].show(round));
    setChildren(
      this.list,
      this.views.map(({ element }) => element),
    );
  }

  async #load() {
    try {
      LoadedView = (await import("./call_view.js")).RoundView;
      this.#showRounds();
    } catch {
      this.list.replaceChildren(h("li", { role: "alert" }, apiErrorText({ code: "unreachable" })));
    }
  }
}
