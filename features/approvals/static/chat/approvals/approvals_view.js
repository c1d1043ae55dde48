/** The calls of an answer that wait for their user's approval, answer or sign-in. The cards are loaded with the first one. */

import { assign, h, setChildren } from "../elements/element.js";
import { apiErrorText } from "../answer/status_texts.js";

/** @import {AddressCard, AllCalls, ApprovalCard, SignInCard} from "./approval_card.js" */
/** @import {QuestionCard} from "./question_card.js" */
/** @import {ToolCall} from "../types.js" */

/** @type {{AllCalls: typeof AllCalls, ApprovalCard: typeof ApprovalCard, QuestionCard: typeof QuestionCard, SignInCard: typeof SignInCard, AddressCard: typeof AddressCard}|undefined} */
let loaded;

export class ApprovalsView {
  constructor() {
    this.element = h("div", { class: "approvals", hidden: true });
    /** @type {Map<string, ApprovalCard|QuestionCard|SignInCard|AddressCard>} */
    this.cards = new Map();
    /** @type {AllCalls|undefined} */
    this.all = undefined;
    /** @type {ToolCall[]} */
    this.waiting = [];
  }

  /** @param {ToolCall[]} waiting */
  show(waiting) {
    this.waiting = waiting;
    assign(this.element, { hidden: waiting.length === 0 });
    if (waiting.length === 0 && this.cards.size === 0) return;
    if (!loaded) {
      void this.#load();
      return;
    }
    const { AllCalls, ApprovalCard } = loaded;
    this.cards = new Map(waiting.map((call) => [keyOf(call), this.cards.get(keyOf(call)) ?? cardOf(call)]));
    const cards = [...this.cards.values()];
    this.all ??= new AllCalls();
    this.all.show(cards.filter((card) => card instanceof ApprovalCard));
    setChildren(this.element, [...cards.map(({ element }) => element), this.all.element]);
  }

  async #load() {
    try {
      const cards = await Promise.all([import("./approval_card.js"), import("./question_card.js")]);
      loaded = Object.assign({}, ...cards);
      this.show(this.waiting);
    } catch {
      this.element.replaceChildren(h("p", { role: "alert" }, apiErrorText({ code: "unreachable" })));
    }
  }
}

/** @param {ToolCall} call */
function cardOf(call) {
  const { AddressCard, ApprovalCard, QuestionCard, SignInCard } = /** @type {NonNullable<typeof loaded>} */ (loaded);
  if (call.signIn) return new SignInCard({ ...call, signIn: call.signIn });
  if (call.address) return new AddressCard({ ...call, address: call.address });
  return call.question ? new QuestionCard({ ...call, question: call.question }) : new ApprovalCard(call);
}

/** A call may wait for its approval, for the answer to what it asks, and for another approval if its tool has changed. @param {ToolCall} call */
const keyOf = ({ row, question, address, signIn, changed }) =>
  `${row} ${JSON.stringify(question ?? address ?? signIn ?? changed)}`;
