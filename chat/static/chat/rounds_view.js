/** The tools an answer used, as a foldable list: what was called with what, and what came of it. */

import { h } from "./element.js";
import { sourceLink } from "./sources_view.js";

/** @import {Round, ToolCall} from "./types.js" */

const LONGEST_HINT = 80;

export class RoundsView {
  constructor() {
    this.element = h("div", { class: "tools", hidden: true });
    /** @type {Set<string>} ids of the calls the reader has opened */
    this.open = new Set();
  }

  /** @param {Round[]} rounds */
  show(rounds) {
    if (rounds === this.rounds) return;
    this.rounds = rounds;
    this.element.hidden = rounds.length === 0;
    this.element.replaceChildren(...rounds.map((round) => this.#round(round)));
  }

  /** @param {Round} round */
  #round({ reasoning, calls }) {
    const thought = reasoning && h("details", { class: "reasoning" }, h("summary", {}, "Reasoning"), h("p", {}, reasoning));
    return h("div", { class: calls.length > 1 ? "round parallel" : "round" }, thought, ...calls.map((call) => this.#call(call)));
  }

  /** @param {ToolCall} call @returns {HTMLElement} */
  #call(call) {
    const title = h("summary", {}, h("span", { class: "tool-name" }, call.name), " ", h("span", { class: "hint" }, hint(call)));
    const inside = call.inside.map((inner) => this.#call(inner));
    const remember = (event) => this.open[event.target.open ? "add" : "delete"](call.id);
    return h(
      "details",
      { class: call.running ? "tool running" : "tool", open: this.open.has(call.id), ontoggle: remember },
      title,
      h("pre", { class: "given" }, JSON.stringify(call.given, null, 2)),
      inside.length > 0 && h("div", { class: "inside" }, ...inside),
      outcome(call),
    );
  }
}

/** @param {ToolCall} call */
function hint({ given, running }) {
  if (running) return "working…";
  const values = Object.values(given).flat().filter((value) => typeof value === "string").join(", ");
  return values.length > LONGEST_HINT ? `${values.slice(0, LONGEST_HINT)}…` : values;
}

/** @param {ToolCall} call */
function outcome({ documents, output, report }) {
  if (documents.length > 0) return h("ol", { class: "documents" }, ...documents.map((source) => h("li", { value: source.number }, sourceLink(source))));
  const text = output || report;
  return text && h("p", { class: "output" }, text);
}
