/** The calls of an answer that wait for their user's approval. The cards are loaded with the first one. */

import { assign, h, setChildren } from "../elements/element.js";
import { apiErrorText } from "../answer/status_texts.js";

/** @import {ApprovalCard} from "./approval_card.js" */
/** @import {ToolCall} from "../types.js" */

/** @type {typeof ApprovalCard|undefined} */
let LoadedCard;

export class ApprovalsView {
  constructor() {
    this.element = h("div", { class: "approvals", hidden: true });
    /** @type {Map<string, ApprovalCard>} by row */
    this.cards = new Map();
    /** @type {ToolCall[]} */
    this.waiting = [];
  }

  /** @param {ToolCall[]} waiting */
  show(waiting) {
    this.waiting = waiting;
    assign(this.element, { hidden: waiting.length === 0 });
    if (waiting.length === 0 && this.cards.size === 0) return;
    if (!LoadedCard) {
      void this.#load();
      return;
    }
    this.cards = new Map(waiting.map((call) => [call.row, this.cards.get(call.row) ?? new LoadedCard(call)]));
    setChildren(this.element, [...this.cards.values()].map(({ element }) => element));
  }

  async #load() {
    try {
      LoadedCard = (await import("./approval_card.js")).ApprovalCard;
      this.show(this.waiting);
    } catch {
      this.element.replaceChildren(h("p", { role: "alert" }, apiErrorText({ code: "unreachable" })));
    }
  }
}
