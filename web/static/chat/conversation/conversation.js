/**
 * The view of the current branch. Draws at most once per animation frame, only changed messages, and of many new ones
 * the newest first.
 */

import { AnswerView } from "../answer/answer_view.js";
import { ColumnsView } from "./versions.js";
import { bringIntoSight, setChildren } from "../elements/element.js";
import { AutoScroll, OlderMessages } from "./scrolling.js";
import { keepTimes } from "../elements/sent_time.js";
import { QueueView } from "./queue.js";
import { columnsOf, shownMessages } from "../state/branch.js";
import { answerTo } from "../state/session_state.js";
import { SearchMarks } from "./search_marks.js";
import { SummaryView } from "./compression.js";
import { UnsavedEdits } from "./edits.js";
import { PendingMessage, UserMessage } from "./user_message.js";

/** @import {Pending} from "../composer/message_sender.js" */
/** @import {Message, SessionState} from "../types.js" */

/** How long one frame may create views of messages; the rest is left to the next frame. */
const NEW_VIEWS_MS = 12;
/** A drawing that took longer is followed by a pause. */
const CHEAP_MS = 6;
const REST = 2;
/** How many messages are read at once on the way to one that is far above. */
const FAR = 500;

export class Conversation {
  /**
   * @param {HTMLElement} scroller
   * @param {HTMLElement} list
   * @param {any} actions see UserMessage and AnswerView
   */
  constructor(scroller, list, actions) {
    this.scroller = scroller;
    this.list = list;
    this.edits = new UnsavedEdits();
    this.actions = {
      ...actions,
      edits: this.edits,
      select: (/** @type {string} */ id) => this.#select(id),
      edit: (/** @type {Message} */ message, /** @type {string} */ text, /** @type {boolean} */ isWaiting) =>
        this.#sendEdited(message, text, isWaiting),
    };
    this.pageActions = actions;
    /** @type {Map<string, {element: HTMLElement, update: (shown: any) => void, resumeEdit: () => void}>} */
    this.views = new Map();
    /** Drawn last. @type {Message[]} */
    this.branch = [];
    this.summary = new SummaryView(actions);
    this.queue = new QueueView({ edit: (id) => this.#edit(id), withdraw: actions.withdraw });
    /** By question. @type {Map<string, ColumnsView>} */
    this.columns = new Map();
    this.pending = new PendingMessage();
    this.following = new AutoScroll(scroller, list);
    this.place = new KeptPlace(scroller);
    this.older = new OlderMessages(scroller, () => actions.readOlder());
    this.pace = new DrawScheduler();
    /** Who is to be brought into sight. @type {string|null} */
    this.wanted = null;
    /** Where the drawing of the branch begins until all of it is drawn; null: at its end. @type {string|null} */
    this.start = null;
    this.isComplete = true;
    /** Brings back into sight what was revealed while the branch around it is drawn, unless the user scrolls. @type {(() => void)|null} */
    this.hold = null;
    for (const type of ["wheel", "touchmove", "pointerdown", "keydown"])
      scroller.addEventListener(type, () => (this.hold = null), { passive: true });
    this.marks = new SearchMarks();
    /** What a search has found here, until it is in sight. @type {{message: string, query: string, isAskedFor: boolean, keepsFocus: boolean}|null} */
    this.sought = null;
    keepTimes(list);
  }

  /** @param {() => {state: SessionState|null, pending: Pending|null}} read asked when it is time to draw */
  drawSoon(read) {
    this.pace.drawSoon(() => {
      const isComplete = this.#draw(read());
      if (!isComplete) this.drawSoon(read);
    });
  }

  /** Clears the view for another session, which opens at its end. */
  clear() {
    this.wanted = this.start = this.hold = null;
    this.views.clear();
    this.columns.clear();
    this.list.replaceChildren();
    this.goToEnd();
  }

  /** Scrolls to the end with the next drawing. */
  goToEnd() {
    this.following.start();
  }

  /**
   * Bring a message of the branch into sight, and the focus to it; one that is far above as soon as it was read.
   * @param {string} id @param {boolean} [takesFocus] @returns {boolean} whether it is in sight now
   */
  reveal(id, takesFocus = true) {
    const view = this.views.get(id);
    // While the branch is drawn from elsewhere on, one that was drawn before may not be on the page.
    const isThere = Boolean(view?.element.isConnected);
    this.wanted = isThere ? null : id;
    if (!isThere) {
      this.start = id;
      if (!view) this.actions.readOlder(FAR);
      return false;
    }
    this.following.stop();
    view.element.tabIndex = -1;
    bringIntoSight(view.element);
    this.hold = this.isComplete ? null : () => bringIntoSight(view.element);
    if (takesFocus) view.element.focus({ preventScroll: true });
    return true;
  }

  /**
   * Brings what a search has found into sight and marks it, on whichever branch it stands.
   * @param {string|null} message null: nothing; marks are taken away @param {string} query @param {boolean} [keepsFocus] where it is
   */
  seek(message, query, keepsFocus = false) {
    this.marks.clear();
    this.start = message;
    this.sought = message ? { message, query, isAskedFor: false, keepsFocus } : null;
  }

  /** Opens the editor of the newest question. @returns {boolean} false: there is none on the screen */
  editLast() {
    const view = [...this.views.values()].filter((one) => one instanceof UserMessage).sort(lowest)[0];
    view?.edit();
    return view !== undefined;
  }

  /** Another version of a message on the screen. @param {string} id */
  async #select(id) {
    const shown = this.branch.find(({ siblings = [] }) => siblings.includes(id));
    const view = this.views.get(shown?.id ?? "");
    this.following.stop();
    if (view) this.place.keep(id, view.element);
    const isAccepted = await this.pageActions.select(id);
    if (!isAccepted) this.place.forget();
    return isAccepted;
  }

  /** @param {boolean} isComplete */
  #restorePlace(isComplete) {
    // A part of the branch, as drawn first, may end where the user is.
    this.following.stop();
    this.place.restore(this.views.get(this.place.kept.id)?.element, isComplete);
  }

  /** A question that was edited is the newest one of its branch. @param {Message} message @param {string} text @param {boolean} isWaiting */
  async #sendEdited(message, text, isWaiting) {
    const isAccepted = await this.pageActions.edit(message, text, isWaiting);
    if (isAccepted && !isWaiting) this.goToEnd();
    return isAccepted;
  }

  /** @param {string} id of a question on the screen */
  #edit(id) {
    const view = this.views.get(id);
    if (view instanceof UserMessage) view.edit();
  }

  /** @param {{state: SessionState|null, pending: Pending|null}} shown @returns {boolean} whether all is drawn */
  #draw({ state, pending }) {
    const known = (this.branch = state?.branch ?? []);
    const { elements, first, isComplete } = state
      ? this.#elements(state, known)
      : { elements: [], first: 0, isComplete: true };
    this.isComplete = isComplete;
    if (isComplete && known.some(({ id }) => id === this.start)) this.start = null;
    const hasOlder = first > 0 || Boolean(state?.hasOlder);
    if (hasOlder) elements.unshift(this.older.element);
    if (pending !== null) {
      this.pending.show(pending);
      elements.push(this.pending.element);
    }
    this.older.begin(known[first]?.id);
    setChildren(this.list, elements);
    this.older.done(known[first]?.id, hasOlder && first === 0);
    this.hold?.();
    if (isComplete) this.hold = null;
    if (this.place.kept) this.#restorePlace(isComplete);
    if (this.wanted && (hasOlder || this.views.has(this.wanted))) this.reveal(this.wanted, !this.sought?.keepsFocus);
    if (this.sought && state?.branch) this.#showSought(state.branch);
    return isComplete;
  }

  /** @param {Message[]} known */
  async #showSought(known) {
    const { sought } = this;
    const { message, query, isAskedFor, keepsFocus } = sought;
    const view = this.views.get(message);
    if (view && this.reveal(message, !keepsFocus)) {
      this.sought = null;
      if (view instanceof UserMessage) view.unfold();
      this.marks.show(view.element, query);
      this.hold &&= () => this.marks.bringIntoSight();
    } else if (!isAskedFor) {
      sought.isAskedFor = true;
      const isThere = known.some(({ id }) => id === message) || (await this.actions.bringUp(message));
      if (isThere && this.sought === sought) this.reveal(message, !keepsFocus);
    }
  }

  /** @param {SessionState} state @param {Message[]} known @returns {{elements: Element[], first: number, isComplete: boolean}} first: from which message on */
  #elements(state, known) {
    const shownIds = new Set(shownMessages(state).map(({ id }) => id));
    for (const id of this.views.keys()) if (!shownIds.has(id)) this.views.delete(id);
    const questions = new Set(known.map(({ parent }) => parent));
    for (const id of this.columns.keys()) if (!questions.has(id)) this.columns.delete(id);
    const { elements, first, last } = this.#showFromStart(known, (message) => this.#rowOf(state, message));
    this.queue.show(state, (id) => this.views.get(id)?.element);
    // Whether a question waits decides what its editor does.
    this.edits.session = state.session;
    for (const id of this.edits.messages) this.views.get(id)?.resumeEdit();
    const isComplete = first === 0 && last === known.length - 1;
    return { elements: this.#withSummary(state, known.slice(first, last + 1), elements), first, isComplete };
  }

  /**
   * From where the drawing begins, up and down, as far as there is time for those that were never shown.
   * @param {Message[]} known @param {(message: Message) => Element} show
   */
  #showFromStart(known, show) {
    const until = performance.now() + NEW_VIEWS_MS;
    const at = known.findIndex(({ id }) => id === this.start);
    let last = at === -1 ? known.length - 1 : at;
    let first = last + 1;
    /** @type {Element[]} */
    const upwards = [];
    /** @type {Element[]} */
    const downwards = [];
    const isInTime = (/** @type {Message|undefined} */ message) =>
      message && (this.views.has(message.id) || upwards.length === 0 || performance.now() < until);
    for (let isGrowing = true; isGrowing;) {
      isGrowing = false;
      if (isInTime(known[first - 1])) isGrowing = upwards.push(show(known[--first])) > 0;
      if (isInTime(known[last + 1])) isGrowing = downwards.push(show(known[++last])) > 0;
    }
    return { elements: [...upwards.reverse(), ...downwards], first, last };
  }

  /** Right above the first message that is sent word for word. @param {SessionState} state @param {Message[]} branch @param {Element[]} elements */
  #withSummary(state, branch, elements) {
    const { summary } = state;
    const covered = summary ? branch.findIndex(({ id }) => id === summary.last_summarized_message) + 1 : 0;
    if (covered === 0) return elements;
    const latest = branch.findLast(({ role }) => role === "assistant");
    const answers = latest ? columnsOf(state, latest) : [];
    this.summary.show(
      summary,
      answers.map(({ model }) => model ?? ""),
    );
    return [...elements.slice(0, covered), this.summary.element, ...elements.slice(covered)];
  }

  /** A message, with what stands beside it. @param {SessionState} state @param {Message} message @returns {Element} */
  #rowOf(state, message) {
    const shown = columnsOf(state, message);
    if (shown.length === 1) return this.#elementOf(state, message, false, true);
    const view = this.columns.get(message.parent) ?? new ColumnsView();
    this.columns.set(message.parent, view);
    view.show(
      shown.map((one) => {
        const isCurrent = one === message;
        return {
          element: /** @type {HTMLElement} */ (this.#elementOf(state, one, true, isCurrent)),
          model: one.model ?? "",
          isCurrent,
        };
      }),
    );
    return view.element;
  }

  /** @param {SessionState} state @param {Message} message @param {boolean} isInColumns @param {boolean} isCurrent */
  #elementOf(state, message, isInColumns, isCurrent) {
    let view = this.views.get(message.id);
    if (!view) {
      view = message.role === "user" ? new UserMessage(this.actions) : new AnswerView(this.actions);
      this.views.set(message.id, view);
    }
    if (message.role === "user") view.update(message);
    else
      view.update({
        message,
        answer: answerTo(state, message),
        isInColumns,
        isCurrent,
        hasReplies: isCurrent && message !== state.branch?.at(-1),
      });
    return view.element;
  }
}

/** The lower of two on the page first. @param {UserMessage} one @param {UserMessage} other */
function lowest(one, other) {
  return one.element.compareDocumentPosition(other.element) & Node.DOCUMENT_POSITION_FOLLOWING ? 1 : -1;
}

// Another version of a message comes to stand where the one before stood, with the focus, although all below it
// changes.

/** @typedef {{id: string, top: number, isFocused: boolean}} Kept */

class KeptPlace {
  /** @param {HTMLElement} scroller */
  constructor(scroller) {
    this.scroller = scroller;
    /** @type {Kept|null} */
    this.kept = null;
  }

  /** @param {string} id of the message that comes @param {HTMLElement} element of the one that goes */
  keep(id, element) {
    this.kept = { id, top: topOf(element), isFocused: element.contains(document.activeElement) };
  }

  forget() {
    this.kept = null;
  }

  /** To be called after each drawing. @param {HTMLElement|undefined} element of the message that comes @param {boolean} isComplete nothing will be added above it */
  restore(element, isComplete) {
    if (!this.kept || !element?.isConnected) return;
    const { top, isFocused } = this.kept;
    this.scroller.scrollTop += topOf(element) - top;
    if (isFocused && !element.contains(document.activeElement))
      /** @type {HTMLElement|null} */ (element.querySelector(".siblings button:enabled"))?.focus({
        preventScroll: true,
      });
    if (isComplete) this.kept = null;
  }
}

/** @param {HTMLElement} element */
const topOf = (element) => element.getBoundingClientRect().top;

/** Schedules drawing: at most once per animation frame, and after a long drawing only once input has been handled. */
class DrawScheduler {
  constructor() {
    this.frame = 0;
    this.restsUntil = 0;
  }

  /** @param {() => void} draw called once, however often this is asked before */
  drawSoon(draw) {
    this.frame ||= requestAnimationFrame(() => this.#frame(draw));
  }

  /** @param {() => void} draw */
  #frame(draw) {
    this.frame = 0;
    const begin = performance.now();
    if (begin < this.restsUntil) return this.drawSoon(draw);
    draw();
    const took = performance.now() - begin;
    this.restsUntil = took > CHEAP_MS ? begin + took * (1 + REST) : 0;
  }
}
