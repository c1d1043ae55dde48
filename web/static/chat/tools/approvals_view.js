/** The calls of an answer that wait for their user's approval or answer. The cards are loaded with the first one. */

import { assign, h, setChildren } from "../elements/element.js";
import { apiErrorText } from "../answer/status_texts.js";

/** @import {ToolCall} from "../types.js" */

/** @typedef {{element: HTMLElement}} Card */

/** @type {((call: ToolCall) => Card)|undefined} */
let cardOf;
/** @type {((cards: Card[]) => HTMLElement[])|undefined} what decides about several of them at once, if there are */
let barOf;

export class ApprovalsView {
  constructor() {
    this.element = h("div", { class: "approvals", hidden: true });
    /** @type {Map<string, Card>} */
    this.cards = new Map();
    /** @type {HTMLElement[]} */
    this.bar = [];
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
    const before = this.cards;
    this.cards = new Map(waiting.map((call) => [keyOf(call), before.get(keyOf(call)) ?? cardOf(call)]));
    const cards = [...this.cards.values()];
    const isSame = cards.length === before.size && cards.every((card) => [...before.values()].includes(card));
    if (!isSame) this.bar = barOf?.(cards) ?? [];
    setChildren(this.element, [...cards.map(({ element }) => element), ...this.bar]);
  }

  async #load() {
    try {
      const [{ AllCalls, ApprovalCard }, { QuestionCard }] = await Promise.all([import("./approval_card.js"), import("./question_card.js")]);
      cardOf = (call) => (call.question ? new QuestionCard({ ...call, question: call.question }) : new ApprovalCard(call));
      barOf = (cards) => {
        const calls = cards.filter((card) => card instanceof ApprovalCard);
        return calls.length > 1 ? [new AllCalls(calls).element] : [];
      };
      this.show(this.waiting);
    } catch {
      this.element.replaceChildren(h("p", { role: "alert" }, apiErrorText({ code: "unreachable" })));
    }
  }
}

/** A call may wait for its approval, and then for the answer to what it asks. @param {ToolCall} call */
const keyOf = ({ row, question }) => `${row} ${question ? JSON.stringify(question) : ""}`;
