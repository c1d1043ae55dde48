/** The calls of an answer that wait for their user's approval or answer. The cards are loaded with the first one. */

import { assign, h, setChildren } from "../elements/element.js";
import { apiErrorText } from "../answer/status_texts.js";

/** @import {ToolCall} from "../types.js" */

/** @typedef {{element: HTMLElement}} Card */

/** @type {((call: ToolCall) => Card)|undefined} */
let cardOf;

export class ApprovalsView {
  constructor() {
    this.element = h("div", { class: "approvals", hidden: true });
    /** @type {Map<string, Card>} by row */
    this.cards = new Map();
    /** @type {ToolCall[]} */
    this.waiting = [];
  }

  /** @param {ToolCall[]} waiting */
  show(waiting) {
    this.waiting = waiting;
    assign(this.element, { hidden: waiting.length === 0 });
    if (waiting.length === 0 && this.cards.size === 0) return;
    if (!cardOf) {
      void this.#load();
      return;
    }
    this.cards = new Map(waiting.map((call) => [call.row, this.cards.get(call.row) ?? cardOf(call)]));
    setChildren(this.element, [...this.cards.values()].map(({ element }) => element));
  }

  async #load() {
    try {
      const [{ ApprovalCard }, { QuestionCard }] = await Promise.all([import("./approval_card.js"), import("./question_card.js")]);
      cardOf = (call) => (call.question ? new QuestionCard({ ...call, question: call.question }) : new ApprovalCard(call));
      this.show(this.waiting);
    } catch {
      this.element.replaceChildren(h("p", { role: "alert" }, apiErrorText({ code: "unreachable" })));
    }
  }
}
