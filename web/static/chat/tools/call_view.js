/** One round of tools in an opened timeline: the reasoning before it, and its calls. */

import { h, setChildren } from "../elements/element.js";
import { ReasoningView } from "../answer/reasoning_view.js";
import { CallOutcome } from "./call_outcome.js";
import { t } from "../i18n.js";
import { icon } from "../elements/icons.js";
import { showText, visibleText } from "../elements/visible_text.js";
import { about, outcomeText, title, cardOf } from "./tool_texts.js";

/** @import {Round, ToolCall} from "../types.js" */

export class RoundView {
  /** @param {ReadWhole} readWhole */
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

/** Longer arguments may not fit in the summary line. */
const LONG = 32;

/** @typedef {(ref: string) => Promise<string>} ReadWhole  reads the whole output of a call whose shown output is truncated */

/** A collapsible tool call: arguments, calls inside it, result. */
class CallView {
  /** @param {ToolCall} call @param {ReadWhole} readWhole @param {boolean} isOpen */
  constructor(call, readWhole, isOpen) {
    /** @type {ToolCall|undefined} */
    this.call = undefined;
    this.title = h("span", { class: "tool-title" });
    this.about = h("span", { class: "hint" });
    this.state = h("span", { class: "state" });
    const head = h(
      "summary",
      {},
      icon(cardOf(call.name).icon),
      h("span", { class: "tool-line" }, this.title, this.about),
      this.state,
      icon("chevronDown"),
    );
    this.given = h("pre", { class: "given", role: "group", tabIndex: 0, "aria-label": t("Arguments") });
    this.asked = h("pre", { class: "asked", role: "group", tabIndex: 0, "aria-label": t("Arguments before the edit") });
    this.before = h("details", { class: "before" }, h("summary", {}, t("Arguments before the edit")), this.asked);
    this.inside = h("div", { class: "inside" });
    this.outcome = new CallOutcome(readWhole);
    this.element = h(
      "details",
      { class: "tool", open: isOpen, ontoggle: () => this.#showBody() },
      head,
      this.given,
      this.before,
      this.inside,
      this.outcome.element,
    );
    this.element.dataset.tool = call.name;
    this.calls = new Calls(this.inside, readWhole);
  }

  /** @param {ToolCall} call */
  show(call) {
    if (call === this.call) return;
    this.call = call;
    showText(this.title, title(call));
    showText(this.about, about(call));
    this.about.title = visibleText(about(call));
    showText(this.state, [call.asked && t("edited"), outcomeText(call)].filter(Boolean).join(" · "));
    this.element.dataset.status = call.status;
    this.#showBody();
  }

  #showBody() {
    if (!this.element.open || !this.call) return;
    const text = argumentsText(this.call);
    this.given.hidden = !text;
    showText(this.given, text);
    this.before.hidden = !this.call.asked;
    if (this.call.asked) showText(this.asked, JSON.stringify(this.call.asked, null, 2));
    this.inside.hidden = this.call.inside.length === 0;
    this.calls.show(this.call.inside);
    this.outcome.show(this.call);
  }
}

/** A list of calls, each with its own view. */
class Calls {
  /** @param {HTMLElement} element @param {ReadWhole} readWhole */
  constructor(element, readWhole) {
    this.element = element;
    this.readWhole = readWhole;
    /** @type {Map<string, CallView>} */
    this.views = new Map();
  }

  /** @param {ToolCall[]} calls */
  show(calls) {
    const isAlone = calls.length === 1;
    const views = calls.map((call) => {
      const view =
        this.views.get(call.id) ?? new CallView(call, this.readWhole, isAlone || cardOf(call.name).result === "report");
      view.show(call);
      return /** @type {const} */ ([call.id, view]);
    });
    this.views = new Map(views);
    this.element.classList.toggle("parallel", !isAlone);
    setChildren(
      this.element,
      views.map(([, { element }]) => element),
    );
  }
}

/** The arguments of a call, or the part of them received so far. @param {ToolCall} call */
function argumentsText(call) {
  const { given, writing, status, name } = call;
  // The result has the questions.
  if (cardOf(name).result === "form" && status === "completed") return "";
  const values = Object.values(given);
  if (values.length === 0) return status === "running" ? writing : "";
  if (values.length > 1 || typeof values[0] !== "string") return JSON.stringify(given, null, 2);
  // The summary line already shows short ones completely.
  return values[0] === about(call) && values[0].length < LONG ? "" : values[0];
}
