/** The branch on the screen. Draws at most once per animation frame, and only messages that changed. */

import { AnswerView } from "./answer_view.js";
import { h, setChildren } from "./element.js";
import { answerTo } from "./session_state.js";
import { SummaryView } from "./summary_view.js";
import { UserMessage } from "./user_message.js";

/** @import {Message, SessionState} from "./types.js" */

/** Closer to the end than this, the reader is following. */
const FOLLOWING_PX = 80;

export class Conversation {
  /**
   * @param {HTMLElement} scroller
   * @param {HTMLElement} list
   * @param {any} actions see UserMessage and AnswerView
   */
  constructor(scroller, list, actions) {
    this.scroller = scroller;
    this.list = list;
    this.actions = actions;
    /** @type {Map<string, {element: HTMLElement, update: (shown: any) => void}>} */
    this.views = new Map();
    this.summary = new SummaryView();
    this.columns = h("div", { class: "columns" });
    this.pendingText = h("div", { class: "said" });
    this.pending = h("article", { class: "message user pending", "aria-label": "You, being sent" }, this.pendingText);
    this.frame = 0;
  }

  /** @param {() => {state: SessionState|null, pending: string|null}} read asked when it is time to draw */
  drawSoon(read) {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.#draw(read());
    });
  }

  /** Another session: nothing is reused, and it opens at its end. */
  clear() {
    this.views.clear();
    this.list.replaceChildren();
    this.goToEnd();
  }

  /** From the next drawing on, wherever the reader is now. */
  goToEnd() {
    this.isFollowing = true;
  }

  #draw({ state, pending }) {
    const { scrollHeight, scrollTop, clientHeight } = this.scroller;
    const isFollowing = this.isFollowing || scrollHeight - scrollTop - clientHeight < FOLLOWING_PX;
    const elements = state?.branch ? this.#elements(state) : [];
    if (pending !== null) {
      this.pendingText.textContent = pending;
      elements.push(this.pending);
    }
    setChildren(this.list, elements);
    if (isFollowing) this.scroller.scrollTop = this.scroller.scrollHeight;
    if (elements.length) this.isFollowing = false;
  }

  /** @param {SessionState} state */
  #elements(state) {
    const branch = state.branch ?? [];
    const tip = branch.at(-1);
    const isInColumns = state.alongside.length > 0;
    const shownIds = new Set([...branch, ...state.alongside].map(({ id }) => id));
    for (const id of this.views.keys()) if (!shownIds.has(id)) this.views.delete(id);
    const elements = branch.map((message) => this.#shown(state, message, message === tip && isInColumns, true));
    if (tip && isInColumns) {
      setChildren(this.columns, this.#columns(state, tip, elements.pop()));
      elements.push(this.columns);
    }
    return this.#withSummary(state, branch, elements);
  }

  /** Right above the first message that is sent word for word. */
  #withSummary({ summary }, branch, elements) {
    const covered = summary ? branch.findIndex(({ id }) => id === summary.last_summarized_message) + 1 : 0;
    if (covered === 0) return elements;
    this.summary.show(summary);
    return [...elements.slice(0, covered), this.summary.element, ...elements.slice(covered)];
  }

  /** In the order in which the models were picked, which does not change with the choice. */
  #columns(state, tip, tipElement) {
    const order = (tip.siblings ?? []).indexOf.bind(tip.siblings ?? []);
    return [
      { at: order(tip.id), element: tipElement },
      ...state.alongside.map((mate) => ({ at: order(mate.id), element: this.#shown(state, mate, true, false) })),
    ]
      .sort((a, b) => a.at - b.at)
      .map(({ element }) => element);
  }

  /** @param {SessionState} state @param {Message} message */
  #shown(state, message, isInColumns, isCurrent) {
    let view = this.views.get(message.id);
    if (!view) {
      view = message.role === "user" ? new UserMessage(this.actions) : new AnswerView(this.actions);
      this.views.set(message.id, view);
    }
    if (message.role === "user") view.update(message);
    else view.update({ message, answer: answerTo(state, message), isInColumns, isCurrent });
    return view.element;
  }
}
