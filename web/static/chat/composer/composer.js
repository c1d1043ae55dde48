/**
 * The form in which the next message is written: text, pasted texts, files, draft, Send and Stop. Sending is left to the
 * page.
 */

import { autosize, isComposing } from "../elements/text_field.js";
import { Dictation } from "./dictation.js";
import { DraftFiles } from "./draft_files.js";
import { t } from "../i18n.js";
import { EMPTY, fullText, hasText, isEmpty, isLong, joinDrafts, PastedView } from "./drafts.js";
import { sendKey } from "../settings/preferences.js";
import { attachMenu } from "../elements/menu.js";

/** @import {Draft, DraftFile} from "./drafts.js" */
/** @import {FileInfo, WhileAnswering} from "../types.js" */

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
   * @param {(text: string, files: DraftFile[]) => Promise<boolean>} actions.send  resolves to: was it accepted
   * @param {() => void} actions.stop
   * @param {() => boolean} actions.editLatest  false: there is nothing to edit
   * @param {(mode: WhileAnswering) => void} actions.choose
   * @param {import("./draft_files.js").FilePage} actions.files
   */
  constructor(form, drafts, actions) {
    this.form = form;
    this.field = form.querySelector("textarea");
    this.hint = form.querySelector(".hint");
    this.sendButton = /** @type {HTMLButtonElement} */ (form.querySelector("[data-send]"));
    this.stopButton = /** @type {HTMLButtonElement} */ (form.querySelector("[data-stop]"));
    this.pasted = new PastedView(form.querySelector("[data-pasted]"), {
      changed: () => this.#onEdit(),
      unfold: (text) => this.#unfold(text),
      attach: (text) => this.files.add([asFile(text)]),
    });
    this.mode = new ModeMenu(form.querySelector("[data-mode]"), actions.choose);
    this.files = new DraftFiles(form, actions.files, {
      changed: (session) => this.#onFile(session),
      left: () => this.focus(),
    });
    /** What the field has of a suggestion. @type {{session: string|null|undefined, text: string, files: string[]}|undefined} */
    this.suggested = undefined;
    this.dictation = new Dictation(form.querySelector("[data-dictate]"), this.field, actions.files.failed);
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

  /** Saves the draft of the session before and loads that of this one. @param {string|null} session */
  open(session) {
    if (session === this.session) return;
    this.dictation.stop();
    if (this.#isSendingFromHere) this.leftBehind = this.#draft;
    // The stored draft of a chat whose message is being sent is that message.
    const draft = this.isSending && session === this.sentFrom ? this.leftBehind : this.drafts.read(session);
    // Text typed before the page started is already in the field.
    const early = this.session === undefined && this.field.value !== draft.text ? this.field.value : "";
    this.session = session;
    this.files.open(session);
    this.#show(joinDrafts(draft, { ...EMPTY, text: early }));
    if (early) this.#onEdit();
  }

  /** Takes over from early.js: sends what was entered, and has the click made again, before this module was loaded. */
  takeOver() {
    this.form.dataset.ready = "";
    this.form.ariaBusy = null;
    this.field.readOnly = false;
    if ("entered" in this.form.dataset) this.submit();
    delete this.form.dataset.entered;
    dispatchEvent(new Event("ready"));
  }

  /** Moves the draft of the new chat to the session it has become; another one may be open by now. @param {string} session */
  becomes(session) {
    if (this.session === null) this.session = session;
    this.sentFrom = session;
    this.files.become(session);
    this.drafts.write(session, this.drafts.read(null));
    this.drafts.write(null, EMPTY);
  }

  /** Deletes the draft of a deleted session. @param {string} session */
  forget(session) {
    this.files.forget(session, this.drafts.read(session).files);
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
    this.files.draw();
    this.#showSend();
  }

  focus() {
    this.field.focus({ preventScroll: true });
  }

  /** Puts a suggestion into the field, to be sent or changed: in the place of the one before, unless that was changed. @param {string} text @param {File[]} files */
  take(text, files) {
    const { suggested } = this;
    if (suggested?.session === this.session && suggested.text === this.field.value) {
      this.field.value = "";
      for (const key of suggested.files) this.files.remove(key);
    }
    this.giveBack(this.session, { ...EMPTY, text });
    this.suggested = { session: this.session, text, files: this.files.add(files) };
    this.focus();
  }

  /** Restores a text that was not sent, before what was written since. @param {string|null} session @param {Draft} draft */
  giveBack(session, draft) {
    if (session === this.session) this.#show(joinDrafts(draft, this.#draft));
    else this.drafts.write(session, joinDrafts(draft, this.drafts.read(session)));
    this.#onEdit();
  }

  /** Sends the draft, if it can be sent now. */
  async submit() {
    const draft = this.#draft;
    if (!this.#canSend || this.files.delay(() => this.submit())) return;
    this.dictation.stop();
    this.isSending = true;
    this.sentFrom = this.session;
    this.leftBehind = EMPTY;
    this.#show(EMPTY);
    const isAccepted = await this.actions.send(hasText(draft) ? fullText(draft) : "", draft.files);
    this.isSending = false;
    // The server may have the message nevertheless: its files are not deleted from here on.
    const back = { ...draft, files: draft.files.map((file) => ({ ...file, isSent: true })) };
    this.#restoreUnsent(isAccepted ? EMPTY : back);
  }

  /** Restores a message that was not accepted, before what was written since. @param {Draft} back */
  #restoreUnsent(back) {
    if (this.sentFrom !== this.session) this.drafts.write(this.sentFrom, joinDrafts(back, this.leftBehind));
    else if (!isEmpty(back)) this.#show(joinDrafts(back, this.#draft));
    this.#onEdit();
  }

  /** @returns {Draft} */
  get #draft() {
    return { text: this.field.value, pasted: this.pasted.texts, files: this.files.stored };
  }

  get #isSendingFromHere() {
    return this.isSending && this.session === this.sentFrom;
  }

  get #canSend() {
    const isRefused = this.now.isAnswering && this.now.mode === "reject";
    return !this.isSending && !isRefused && (hasText(this.#draft) || this.files.any);
  }

  /** @param {HTMLFormElement} form */
  #listen(form) {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    this.field.addEventListener("keydown", (event) => this.#key(event));
    this.field.addEventListener("input", () => {
      this.files.stopWaiting();
      this.#onEdit();
    });
    this.field.addEventListener("paste", (event) => this.#paste(event));
    this.stopButton.addEventListener("click", () => this.actions.stop());
    form
      .querySelector("[data-servers]")
      .addEventListener("click", () => this.#useServers((dialog, message) => dialog.openServerAttachments(message)));
    form.addEventListener("prompted", (/** @type {any} */ { detail }) =>
      this.#useServers((dialog, message) => dialog.usePrompt(detail.catalog, detail.prompt, message)),
    );
    addEventListener("storage", () => this.#showHint());
    this.#showHint();
    this.drafts.listen(
      (session) => session === this.session && !this.isSending && this.#show(this.drafts.read(session)),
    );
  }

  /** What MCP servers offer. @param {(dialog: typeof import("./server_attachments.js"), message: import("./server_attachments.js").Message) => Promise<void>} use */
  async #useServers(use) {
    const { session } = this;
    const { failed } = this.actions.files;
    const insert = (/** @type {string} */ text) => {
      this.giveBack(session, { ...EMPTY, text });
      if (session === this.session) this.focus();
    };
    const attach = (/** @type {File} */ file, /** @type {Promise<FileInfo>} */ fetched) =>
      this.files.fetch(file, fetched);
    await import("./server_attachments.js").then((dialog) => use(dialog, { attach, insert, failed })).catch(failed);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const meaning = interpretKey(event, {
      isEmpty: isEmpty(this.#draft),
      canStop: this.now.canStop,
      sendKey: sendKey(),
    });
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

  /** Inserts a pasted text at the caret. @param {string} text */
  #unfold(text) {
    this.field.setRangeText(text, this.field.selectionStart, this.field.selectionEnd, "end");
    this.focus();
    this.#onEdit();
  }

  /** @param {Draft} draft */
  #show({ text, pasted, files }) {
    this.field.value = text;
    this.pasted.show(pasted);
    this.files.show(files);
    this.#showSend();
    this.resize();
  }

  /** A file of this chat's draft has another state. @param {string|null} session */
  #onFile(session) {
    const draft = this.drafts.read(session);
    const files = this.files.storedOf(session);
    // Written only if it changes: other tabs take what is written for newer than what they show.
    const isNew = JSON.stringify(files) !== JSON.stringify(draft.files);
    if (session !== this.session) isNew && this.drafts.write(session, { ...draft, files });
    else if (isNew) this.#onEdit();
    else this.#showSend();
  }

  #onEdit() {
    // The draft is kept while the message is being sent: it may still be rejected.
    if (this.session !== undefined && !this.#isSendingFromHere) this.drafts.write(this.session, this.#draft);
    this.#showSend();
    this.resize();
  }

  #showHint() {
    const isEnter = sendKey() === "enter";
    this.field.enterKeyHint = isEnter ? "send" : "enter";
    this.hint.textContent = isEnter
      ? t("Enter sends, Shift+Enter breaks the line")
      : t("Ctrl+Enter sends, Enter breaks the line");
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

/** A pasted text as one that is attached. @param {string} text */
const asFile = (text) => new File([text], `${t("Pasted text")}.txt`, { type: "text/plain" });

// Interprets keys pressed in the composer. Pure.

/**
 * @typedef {Pick<KeyboardEvent, "key"|"shiftKey"|"altKey"|"ctrlKey"|"metaKey"|"isComposing"|"keyCode">} Key
 * @param {Key} key
 * @param {{isEmpty: boolean, canStop: boolean, sendKey: import("../settings/preferences.js").SendKey}} now
 * @returns {"send"|"stop"|"edit_latest"|null} null: the field handles the key
 */
export function interpretKey(key, now) {
  if (isComposing(key)) return null;
  if (key.key === "Enter") return sends(key, now.sendKey) ? "send" : null;
  if (key.shiftKey || key.altKey || key.ctrlKey || key.metaKey) return null;
  if (key.key === "Escape" && now.canStop) return "stop";
  return key.key === "ArrowUp" && now.isEmpty ? "edit_latest" : null;
}

/** @param {Key} enter @param {import("../settings/preferences.js").SendKey} sendKey */
function sends(enter, sendKey) {
  if (enter.shiftKey || enter.altKey) return false;
  return sendKey === "enter" || enter.ctrlKey || enter.metaKey;
}

/** The menu beside Send with the chat's while_answering mode, shown while an answer is being written. */
class ModeMenu {
  /** @param {HTMLButtonElement} button @param {(mode: WhileAnswering) => void} choose */
  constructor(button, choose) {
    this.button = button;
    this.choose = choose;
    /** @type {WhileAnswering} */
    this.mode = "enqueue";
    button.title = button.getAttribute("aria-label") ?? "";
    attachMenu(button, () => this.#items());
  }

  /** @param {WhileAnswering} mode @param {boolean} isAnswering */
  show(mode, isAnswering) {
    this.mode = mode;
    // The button of an open menu stays, so that the focus can return to it.
    this.button.hidden = !isAnswering && this.button.getAttribute("aria-expanded") !== "true";
  }

  /** @returns {import("../elements/menu.js").MenuItem[]} */
  #items() {
    const item = (/** @type {WhileAnswering} */ mode, /** @type {string} */ label, /** @type {string} */ hint) => ({
      label,
      hint,
      checked: mode === this.mode,
      action: () => this.choose(mode),
    });
    return [
      item("enqueue", t("Wait in line"), t("Sent at once, answered when the answer above has ended")),
      item("interrupt", t("Interrupt"), t("Stops the answer above; what it said is kept")),
      item("reject", t("Hold back"), t("Nothing is sent while an answer is written")),
    ];
  }
}
