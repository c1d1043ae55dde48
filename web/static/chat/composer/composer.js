/**
 * Where the next message is written: its text, what was pasted beside it, its draft, Send and Stop. What a key means
 * is composer_keys.js, what becomes of a message is the page's.
 */

import { autosize } from "../elements/autosize.js";
import { meaningOf } from "./composer_keys.js";
import { t } from "../i18n.js";
import { ModeMenu } from "./mode_menu.js";
import { EMPTY, isEmpty, isLong, joined, wholeText } from "./pasted.js";
import { PastedView } from "./pasted_view.js";
import { sendKey } from "../settings/preferences.js";

/** @import {Draft} from "./pasted.js" */
/** @import {WhileAnswering} from "../types.js" */

/**
 * @typedef {object} ComposerNow
 * @property {boolean} isAnswering  the tip is unfinished
 * @property {boolean} canStop
 * @property {boolean} isStopping
 * @property {WhileAnswering} mode  what a message does that is sent meanwhile
 */

export class Composer {
  /**
   * @param {HTMLFormElement} form
   * @param {import("./drafts.js").Drafts} drafts
   * @param {object} actions
   * @param {(text: string) => Promise<boolean>} actions.send  resolves to: was it accepted
   * @param {() => void} actions.stop
   * @param {() => boolean} actions.editLatest  false: there is nothing to edit
   * @param {(mode: WhileAnswering) => void} actions.choose
   */
  constructor(form, drafts, actions) {
    this.form = form;
    this.field = form.querySelector("textarea");
    this.hint = form.querySelector(".hint");
    this.sendButton = /** @type {HTMLButtonElement} */ (form.querySelector("[data-send]"));
    this.stopButton = /** @type {HTMLButtonElement} */ (form.querySelector("[data-stop]"));
    this.pasted = new PastedView(form.querySelector("[data-pasted]"), { changed: () => this.#edited(), unfold: (text) => this.#unfold(text) });
    this.mode = new ModeMenu(form.querySelector("[data-mode]"), actions.choose);
    this.drafts = drafts;
    this.actions = actions;
    /** @type {string|null|undefined} whose draft it is; undefined: no session was opened yet */
    this.session = undefined;
    this.isSending = false;
    /** Whose message is on its way, and what was written there since, if another chat was opened meanwhile. */
    this.sentFrom = /** @type {string|null} */ (null);
    /** @type {Draft} */
    this.leftBehind = EMPTY;
    /** @type {ComposerNow} */
    this.now = { isAnswering: false, canStop: false, isStopping: false, mode: "enqueue" };
    this.resize = autosize(this.field);
    this.#listen(form);
  }

  /** Its draft comes into the field, and what was written stays with its own session. @param {string|null} session */
  open(session) {
    if (session === this.session) return;
    if (this.isSending) this.leftBehind = this.#draft;
    const draft = this.drafts.read(session);
    // What was typed before the page had started was typed into the field itself.
    const early = this.session === undefined && this.field.value !== draft.text ? this.field.value : "";
    this.session = session;
    this.#show(joined(draft, { text: early, pasted: [] }));
    if (early) this.#edited();
  }

  /** From early.js: what was entered before this was here is sent now. */
  takeOver() {
    this.form.dataset.ready = "";
    this.form.ariaBusy = null;
    this.field.readOnly = false;
    if ("entered" in this.form.dataset) this.submit();
    delete this.form.dataset.entered;
  }

  /** The new chat that is written in has become this session. @param {string} session */
  becomes(session) {
    this.session = this.sentFrom = session;
    this.drafts.write(session, this.drafts.read(null));
    this.drafts.write(null, EMPTY);
  }

  /** Its chat was deleted. @param {string} session */
  forget(session) {
    this.drafts.write(session, EMPTY);
  }

  /** @param {ComposerNow} now */
  update(now) {
    const { canStop, isAnswering, isStopping, mode } = (this.now = now);
    const hadFocus = document.activeElement === this.stopButton;
    const words = isStopping ? t("Stopping…") : t("Stop");
    this.stopButton.hidden = !canStop;
    this.stopButton.disabled = isStopping;
    this.stopButton.title = words;
    this.stopButton.setAttribute("aria-label", words);
    this.mode.show(mode, isAnswering);
    if (hadFocus && !canStop) this.focus();
    this.#showSend();
  }

  focus() {
    this.field.focus({ preventScroll: true });
  }

  /** Something that was not sent after all, before what was written since. @param {string|null} session @param {Draft} draft */
  giveBack(session, draft) {
    if (session === this.session) this.#show(joined(draft, this.#draft));
    else this.drafts.write(session, joined(draft, this.drafts.read(session)));
    this.#edited();
  }

  /** Sends what is in the field, if it can be sent now. */
  async submit() {
    const draft = this.#draft;
    if (!this.#canSend) return;
    this.isSending = true;
    this.sentFrom = this.session;
    this.leftBehind = EMPTY;
    this.#show(EMPTY);
    const isAccepted = await this.actions.send(wholeText(draft));
    this.isSending = false;
    this.#settle(isAccepted ? EMPTY : draft);
  }

  /** A message is accepted, or comes back, before what was written since. @param {Draft} back */
  #settle(back) {
    if (this.sentFrom !== this.session) this.drafts.write(this.sentFrom, joined(back, this.leftBehind));
    else if (!isEmpty(back)) this.#show(joined(back, this.#draft));
    this.#edited();
  }

  /** @returns {Draft} */
  get #draft() {
    return { text: this.field.value, pasted: this.pasted.texts };
  }

  get #canSend() {
    const isRefused = this.now.isAnswering && this.now.mode === "reject";
    return !this.isSending && !isRefused && !isEmpty(this.#draft);
  }

  /** @param {HTMLFormElement} form */
  #listen(form) {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    this.field.addEventListener("keydown", (event) => this.#key(event));
    this.field.addEventListener("input", () => this.#edited());
    this.field.addEventListener("paste", (event) => this.#paste(event));
    this.stopButton.addEventListener("click", () => this.actions.stop());
    addEventListener("storage", () => this.#showHint());
    this.#showHint();
    this.drafts.listen((session) => session === this.session && !this.isSending && this.#show(this.drafts.read(session)));
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const meaning = meaningOf(event, { isEmpty: isEmpty(this.#draft), canStop: this.now.canStop, sendKey: sendKey() });
    if (meaning === "send") this.submit();
    else if (meaning === "stop") this.actions.stop();
    else if (meaning === null || !this.actions.editLatest()) return;
    event.preventDefault();
  }

  /** @param {ClipboardEvent} event */
  #paste(event) {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (!isLong(text)) return;
    event.preventDefault();
    this.pasted.add(text);
  }

  /** A pasted text goes where the caret is. @param {string} text */
  #unfold(text) {
    this.field.setRangeText(text, this.field.selectionStart, this.field.selectionEnd, "end");
    this.focus();
    this.#edited();
  }

  /** @param {Draft} draft */
  #show({ text, pasted }) {
    this.field.value = text;
    this.pasted.show(pasted);
    this.#showSend();
    this.resize();
  }

  #edited() {
    // While a message is on its way its draft is kept: nobody knows yet whether it was accepted.
    if (this.session !== undefined && !this.isSending) this.drafts.write(this.session, this.#draft);
    this.#showSend();
    this.resize();
  }

  #showHint() {
    const isEnter = sendKey() === "enter";
    this.hint.textContent = isEnter ? t("Enter sends, Shift+Enter breaks the line") : t("Ctrl+Enter sends, Enter breaks the line");
  }

  #showSend() {
    const { isAnswering, mode } = this.now;
    const whileAnswering = {
      enqueue: t("Send when the answer has ended"),
      interrupt: t("Stop the answer and send"),
      reject: t("Send (once the answer has ended)"),
    };
    const words = isAnswering ? whileAnswering[mode] : t("Send");
    this.sendButton.disabled = !this.#canSend;
    this.sendButton.title = words;
    this.sendButton.setAttribute("aria-label", words);
  }
}
