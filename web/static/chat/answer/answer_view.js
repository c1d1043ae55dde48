/** The view of an answer: model and status, content, error, actions. */

import { emptyAnswer, isTerminal, contentOf } from "../state/answer.js";
import { AnswerFooter } from "./answer_footer.js";
import { AnswerParts } from "./answer_parts.js";
import { ApprovalsView } from "../approvals/approvals_view.js";
import { CutView, cutText } from "./cut_view.js";
import { assign, h } from "../elements/element.js";
import { t } from "../i18n.js";
import { icon } from "../elements/icons.js";
import { readableText } from "../state/answer_text.js";
import { runErrorText, statusText, canAnotherModelHelp, lookupOf, referenceOf } from "./status_texts.js";
import { waitingCalls } from "../state/tool_rounds.js";
import { openMenu } from "../elements/menu.js";

/** @import {Answer, Message, RunError} from "../types.js" */

/**
 * @typedef {object} Shown
 * @property {Message} message
 * @property {Answer|undefined} answer  what its run wrote since the message was read
 * @property {boolean} isInColumns
 * @property {boolean} [hasReplies]
 * @property {boolean} isCurrent  of several side by side: the one the conversation goes on from
 */

/**
 * @typedef {object} AnswerActions
 * @property {(id: string) => void} select
 * @property {(id: string) => void} peek  shows an earlier attempt in a column beside the branch
 * @property {(message: Message, model: string|undefined, isInColumns: boolean) => void} regenerate  model left out: the one that answered
 * @property {(id: string, text: string) => Promise<boolean>} editAnswer  the text becomes another answer to the same question
 * @property {import("../conversation/edits.js").UnsavedEdits} edits
 * @property {(id: string) => void} fork  a new chat with the branch up to this answer, which is opened
 * @property {(id: string) => void} remove  with all below it
 * @property {(run: string) => void} stopRun
 * @property {(run: string) => void} goOn  with an answer that was cut at the output limit, stopped or broken off
 * @property {(text: string) => void} announce
 * @property {() => string[]} models  those that may be asked
 * @property {() => import("../types.js").Agent|null} agent  of the open chat
 * @property {(run: string) => Promise<import("./timing_card.js").RunUsage>} readRun
 * @property {(message: string, call: string) => Promise<string>} readToolOutput  all of it; empty: it was refused
 * @property {(message: string, feedback: import("../feedback/feedback_view.js").Feedback) => Promise<boolean>} giveFeedback
 */

export class AnswerView {
  /** @param {AnswerActions} actions */
  constructor(actions) {
    this.actions = actions;
    this.name = h("span", { class: "agent", dir: "auto", hidden: true });
    this.model = h("span", { class: "model" });
    this.status = h("span", { class: "status" });
    this.parts = new AnswerParts((call) => actions.readToolOutput(this.shown.message.id, call));
    this.approvals = new ApprovalsView();
    this.edited = h("span", { class: "edited", hidden: true }, icon("edit"), t("Edited by you"));
    this.footer = new AnswerFooter(actions, () => this.#edit());
    const goOn = () => actions.goOn(this.now.run);
    this.cut = new CutView(goOn);
    this.problem = new ProblemView({ goOn, again: () => this.footer.regenerate(), others: () => this.footer.others() });
    this.element = h(
      "article",
      { class: "message answer" },
      h("header", {}, this.name, this.model, this.edited, this.status),
      this.parts.element,
      this.approvals.element,
      this.cut.element,
      this.problem.element,
      this.footer.element,
      this.footer.comment,
    );
    /** @type {Shown|undefined} */
    this.shown = undefined;
    /** @type {import("./answer_editor.js").AnswerEditor|undefined} */
    this.editor = undefined;
    this.isLive = false;
  }

  /** @param {Shown} shown */
  update(shown) {
    const before = this.shown;
    if (before && isSame(before, shown)) return;
    const wasLive = this.isLive;
    this.shown = shown;
    this.now = shown.answer ?? fromMessage(shown.message);
    this.isLive = !this.now.ended;
    const waiting = this.isLive ? waitingCalls(this.now.rounds) : [];
    this.#showHead(waiting.length > 0);
    this.parts.show(this.now, this.isLive);
    this.approvals.show(waiting);
    this.footer.show(shown, this.now, this.isLive);
    const mayGoOn = canGoOn(shown, this.now);
    this.cut.show(this.now.cut, this.now.text.trim() !== "", mayGoOn && !this.now.error, this.now.status === "stopped");
    this.problem.show(this.now.error, this.now.ended, this.now.run, mayGoOn);
    if (wasLive && !this.isLive) this.actions.announce(this.#announcement());
  }

  /** @param {boolean} waits  for its user */
  #showHead(waits) {
    const { model } = this.now;
    // While it is written, the server does not say yet who answers.
    const agent = this.shown.message.agent ?? (this.isLive ? this.actions.agent()?.name : this.name.textContent) ?? "";
    assign(this.name, { textContent: agent, hidden: agent === "" });
    assign(this.model, { textContent: model || t("Answer") });
    assign(this.edited, { hidden: this.shown.message.edited_from === undefined });
    assign(this.status, { textContent: statusText(this.now) });
    assign(this.element, {
      ariaLabel: model ? t("Answer by %(model)s", { model }) : t("Answer"),
      ariaBusy: String(this.isLive),
    });
    // Nothing moves while it waits.
    this.element.classList.toggle("live", this.isLive && !waits);
    this.element.classList.toggle("current", this.shown.isInColumns && this.shown.isCurrent);
  }

  async #edit() {
    await this.#openEditor();
    this.editor.focus();
  }

  /** Opens the editor again that was taken away with another view of this answer. */
  async resumeEdit() {
    if (this.editor) return;
    await this.#openEditor();
    this.editor?.resize();
  }

  async #openEditor() {
    const { edits } = this.actions;
    const { id } = this.shown.message;
    const { AnswerEditor } = await import("./answer_editor.js");
    if (this.editor) return;
    const text = readableText(this.now);
    this.editor = new AnswerEditor(
      text,
      {
        save: (edited) => this.actions.editAnswer(id, edited),
        changed: (edited) => edits.keep(id, edited, text),
        closed: () => this.#leaveEditing(),
      },
      edits.read(id),
    );
    this.parts.element.hidden = this.footer.element.hidden = true;
    this.parts.element.after(this.editor.element);
  }

  #leaveEditing() {
    this.actions.edits.forget(this.shown.message.id);
    this.editor = undefined;
    this.parts.element.hidden = this.footer.element.hidden = false;
    this.footer.more.focus();
  }

  #announcement() {
    const { cut, error, model } = this.now;
    return [
      `${model}:`,
      this.parts.body.textContent,
      cut && cutText(cut),
      error ? runErrorText(error) : statusText(this.now),
    ]
      .filter(Boolean)
      .join(" ");
  }
}

/**
 * Whether the model may go on with the text: it was cut at the output limit, stopped, or broke off, and nothing was asked after it.
 * @param {Shown} shown @param {Answer} now
 */
function canGoOn({ message, hasReplies }, { text, cut, status, error, ended }) {
  // False where the page sees no replies: beside the current answer, and after an import.
  if (!ended || hasReplies || text.trim() === "" || message.is_continuable === false) return false;
  if (cut) return cut.reason === "length";
  return status === "stopped" || (error !== null && (error.retryable || message.is_continuable === true));
}

/** @param {Shown} one @param {Shown} other */
function isSame(one, other) {
  return (
    one.message === other.message &&
    one.answer === other.answer &&
    one.isInColumns === other.isInColumns &&
    one.isCurrent === other.isCurrent &&
    one.hasReplies === other.hasReplies
  );
}

/** @param {Message} message @returns {Answer} */
function fromMessage(message) {
  const { model = "", run = "", status = "completed" } = message;
  const { id } = message;
  return {
    ...emptyAnswer({ run, message: id, model, model_index: 0 }),
    ...contentOf(message),
    model,
    status,
    ended: isTerminal(status),
  };
}

/** The error of a failed answer, with buttons to retry, and to let the model go on with what it has written. */
class ProblemView {
  /** @param {{goOn: () => void, again: () => void, others: () => import("../elements/menu.js").MenuItem[]}} actions others: other models to ask */
  constructor(actions) {
    this.actions = actions;
    this.text = h("p");
    this.reference = h("p", { class: "hint" });
    this.goOn = h("button", { type: "button", class: "small", onclick: actions.goOn }, t("Continue"));
    this.again = h("button", { type: "button", class: "small", onclick: actions.again }, t("Try again"));
    this.other = h(
      "button",
      { type: "button", class: "small", onclick: () => openMenu(this.other, actions.others()) },
      t("Another model"),
    );
    const row = h("div", { class: "row" }, this.goOn, this.again, this.other);
    this.element = h("div", { class: "problem", hidden: true }, icon("warning"), this.text, this.reference, row);
  }

  /** @param {RunError|null} error @param {boolean} isOver nothing more comes: trying again is possible @param {string} run its id @param {boolean} mayGoOn */
  show(error, isOver, run, mayGoOn) {
    assign(this.element, { hidden: !error });
    if (!error) return;
    this.text.textContent = runErrorText(error);
    const [reference, href] = [t("Reference %(reference)s", { reference: referenceOf(run) }), lookupOf(run)];
    this.reference.replaceChildren(href ? h("a", { href }, reference) : reference);
    this.goOn.hidden = !mayGoOn;
    this.again.hidden = !isOver || !error.retryable;
    this.other.hidden = !isOver || !canAnotherModelHelp(error.code) || this.actions.others().length === 0;
  }
}
