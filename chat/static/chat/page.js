/** Wires the parts of the page to each other. The address's fragment says which session is open. */

import * as api from "./api.js";
import { Composer } from "./composer.js";
import { Conversation } from "./conversation.js";
import { attachAccountMenu } from "./account_menu.js";
import { Connection } from "./connection.js";
import { icon } from "./icons.js";
import { t } from "./i18n.js";
import { LiveSession } from "./live_session.js";
import { ModelPicker } from "./model_picker.js";
import { attachMenu } from "./menu.js";
import { Notice } from "./notice.js";
import { SessionActions } from "./session_actions.js";
import { SessionList, titleOf } from "./session_list.js";
import { isLive, liveAnswers } from "./session_state.js";
import { Sidebar } from "./sidebar.js";
import { Socket } from "./socket.js";
import { TreeToggle } from "./tree_toggle.js";
import { TurnActions } from "./turn_actions.js";
import { compressionInWords } from "./words.js";

const TITLE_CHARACTERS = 60;

/** @param {string} id @returns {any} an element of page.html; its kind is known there */
const part = (id) => document.getElementById(id);

class Page {
  constructor() {
    /** @type {LiveSession|null} */
    this.live = null;
    /**
     * A message on its way to the server, and the end of the branch it was sent to.
     * @type {{text: string, after: string|undefined}|null}
     */
    this.pending = null;
    /** Runs a stop was asked for. */
    this.stopping = new Set();
    /** @param {any} error */
    const failed = (error) => this.#failed(error);
    this.notice = new Notice(part("notice"));
    this.connection = new Connection(part("connection"));
    this.sidebar = new Sidebar({ sidebar: part("sidebar"), toggle: part("sidebar-toggle"), close: part("sidebar-close"), backdrop: part("backdrop"), main: document.querySelector("main") });
    this.actions = this.#sessionActions();
    this.picker = new ModelPicker(part("models"));
    this.sessions = new SessionList(part("sessions"), part("more-sessions"), { changed: () => this.#drawFrame(), failed });
    this.turn = new TurnActions({ live: () => this.live, models: () => this.picker.picked, failed });
    this.conversation = new Conversation(part("scroller"), part("conversation"), this.#messageActions());
    this.composer = new Composer(part("composer"), { send: (text) => this.#send(text), stop: () => this.#stop() });
    this.tree = new TreeToggle(part("tree-toggle"), { live: () => this.live, select: (id) => this.turn.select(id), reveal: (id) => this.conversation.reveal(id), failed });
    this.socket = this.#connect();
    this.#listen();
  }

  async start() {
    this.#open();
    this.sessions.refresh();
    try {
      const models = await api.readModels();
      this.picker.offer(models);
      part("demo-notice").hidden = !models.some((model) => model.is_default && model.is_demo);
    } catch (error) {
      this.#failed(error);
    }
  }

  #connect() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    return new Socket(`${scheme}://${location.host}/ws/`, {
      opened: () => this.live?.subscribe(),
      received: (object) => this.#received(object),
      changed: (state) => this.#connectionChanged(state),
    });
  }

  #listen() {
    for (const place of document.querySelectorAll("[data-icon]")) decorate(/** @type {HTMLElement} */ (place));
    addEventListener("hashchange", () => this.#open());
    part("new-chat").addEventListener("click", () => this.#goTo(""));
    part("skip").addEventListener("click", (/** @type {Event} */ event) => this.#skip(event));
    part("sidebar").addEventListener("click", (/** @type {any} */ event) => event.target.closest("a") && this.sidebar.closeDrawer());
    attachAccountMenu(part("account"), { logout: part("logout"), failed: (error) => this.#failed(error) });
    attachMenu(part("session-menu"), () => this.#sessionMenu());
  }

  #sessionActions() {
    return new SessionActions({
      attempt: (action) => this.#attempt(action),
      changed: () => this.sessions.refresh(),
      removed: (id) => {
        this.sessions.remove(id);
        if (this.live?.state.session === id) this.#goTo("");
      },
    });
  }

  /** Of the open session. */
  #sessionMenu() {
    const { state } = this.live;
    const session = this.sessions.get(state.session) ?? /** @type {any} */ ({ id: state.session, title: "" });
    const canCompress = (state.branch?.length ?? 0) > 2 && state.compressing !== "under_way";
    const hint = t("Summarises the older messages for the model");
    const compress = { label: t("Compress now"), icon: /** @type {const} */ ("collapse"), hint, disabled: !canCompress, action: () => this.#compress() };
    return this.actions.items(session).toSpliced(-1, 0, compress);
  }

  /** The address's fragment is the session's, so the link does not go where it says by itself. @param {Event} event */
  #skip(event) {
    event.preventDefault();
    this.composer.focus();
  }

  #messageActions() {
    /** @typedef {import("./types.js").Message} Message */
    return {
      select: (/** @type {string} */ id) => this.turn.select(id),
      edit: (/** @type {Message} */ message, /** @type {string} */ text) => this.turn.edit(message, text),
      regenerate: (/** @type {Message} */ message) => this.turn.regenerate(message),
      stopRun: (/** @type {string} */ run) => this.#stop(run),
      readOlder: () => this.live?.readOlder(),
      announce: (/** @type {string} */ text) => (part("announcer").textContent = text),
    };
  }

  // --- Which session -----------------------------------------------------------------------------------------

  #open() {
    const id = location.hash.match(/^#([0-9a-f-]{36})$/)?.[1] ?? null;
    if (this.live?.state.session !== id) {
      this.live?.close();
      this.conversation.clear();
      this.stopping.clear();
      this.live = id && new LiveSession(id, this.socket, this.#sessionListener());
    }
    this.#drawFrame();
    this.#draw();
    this.composer.focus();
  }

  #sessionListener() {
    return {
      changed: () => this.#draw(),
      sessionsChanged: () => this.sessions.refreshSoon(),
      failed: (/** @type {any} */ error) => this.#failed(error),
    };
  }

  /** @param {string} id empty: a new chat */
  #goTo(id) {
    this.sidebar.closeDrawer();
    location.hash = id;
    // A fragment that did not change fires no event.
    this.#open();
  }

  async #compress() {
    const live = this.live;
    await this.#attempt(async () => {
      const { status } = await api.compress(live.state.session);
      if (status === "queued") await live.readSummary();
      else this.#failed({ message: t("There is nothing older to summarise yet.") });
    });
  }

  // --- Turns -------------------------------------------------------------------------------------------------

  /** @param {string} text */
  async #send(text) {
    this.notice.hide();
    this.pending = { text, after: this.live?.state.branch?.at(-1)?.id };
    this.conversation.goToEnd();
    this.#draw();
    const isAccepted = (await this.#ensureSession(text)) && (await this.turn.send(text));
    this.pending = null;
    this.#draw();
    return isAccepted;
  }

  /** The first message makes the session, so looking at an empty page leaves nothing behind. @param {string} text */
  async #ensureSession(text) {
    if (this.live) return true;
    return this.#attempt(async () => {
      const beginning = text.trim().split("\n")[0].slice(0, TITLE_CHARACTERS);
      // Where a model names chats after the first answer, this is what it is called until then.
      const session = await api.createSession("namedLater" in part("title").dataset ? "" : beginning);
      this.sessions.callUntilNamed(session.id, beginning);
      this.#goTo(session.id);
      this.sessions.refresh();
    });
  }

  /** @param {string} [run] left out: all that are running */
  #stop(run) {
    const runs = run ? [run] : this.#running().map((answer) => answer.run);
    for (const id of runs) {
      this.stopping.add(id);
      this.turn.stopRun(id).then((isAccepted) => isAccepted || this.stopping.delete(id));
    }
    this.#draw();
  }

  #running() {
    if (!this.live) return [];
    const { state } = this.live;
    const shown = new Set([...(state.branch ?? []), ...state.alongside].map(({ id }) => id));
    return liveAnswers(state).filter((answer) => shown.has(answer.message));
  }

  /** @param {any} object */
  #received(object) {
    if (object.type === "error") {
      // Answers to what this page asked for in the background heal by themselves; refused stops are worth a word.
      if (this.stopping.size) this.stopping.clear();
      this.#failed(object);
    }
    this.live?.receive(object);
  }

  // --- What shows --------------------------------------------------------------------------------------------

  /** The conversation: often, so only when the browser is ready for it. */
  #draw() {
    this.conversation.drawSoon(() => {
      const state = this.live?.state ?? null;
      const running = this.#running();
      this.composer.update({
        isAnswering: Boolean(state) && isLive(state, state.branch?.at(-1)),
        canStop: running.length > 0,
        isStopping: running.length > 0 && running.every((answer) => this.stopping.has(answer.run)),
      });
      const isSeen = this.pending && state?.branch?.at(-1)?.id !== this.pending.after;
      const pending = this.pending && !isSeen ? this.pending.text : null;
      this.#drawCompression(state);
      this.tree.follow();
      part("welcome").hidden = Boolean(this.live) || pending !== null;
      return { state, pending };
    });
  }

  /** @param {import("./types.js").SessionState|null} state */
  #drawCompression(state) {
    const isLong = (state?.branch?.length ?? 0) > 2;
    part("compression").textContent = isLong ? compressionInWords(state.compressing) : "";
  }

  /** Around the conversation: the list, the title. */
  #drawFrame() {
    const id = this.live?.state.session ?? null;
    const session = this.sessions.get(id);
    this.sessions.show(id);
    part("title").textContent = id ? (session ? titleOf(session) : t("Chat")) : t("New chat");
    document.title = `${part("title").textContent} · Turnwire`;
    part("session-menu").hidden = id === null;
    this.tree.follow();
  }

  /** @param {"connected"|"connecting"|"signed_out"} state */
  #connectionChanged(state) {
    if (state === "signed_out") toLogin();
    this.connection.changed(state === "connected");
  }

  /** @param {() => Promise<any>} action */
  async #attempt(action) {
    try {
      await action();
      return true;
    } catch (error) {
      this.#failed(error);
      return false;
    }
  }

  /** @param {{status?: number, code?: string, message?: string}} error */
  #failed(error) {
    if (error.status === 401) toLogin();
    else this.notice.show(error);
  }
}

/** The login is over; after the next one the same chat is open again. */
function toLogin() {
  location.assign(`/login/?next=${encodeURIComponent(location.pathname + location.hash)}`);
}

/** A control of page.html that says which icon it has; where it has no text, its label shows on hover. */
/** @param {HTMLElement} control */
function decorate(control) {
  control.prepend(icon(/** @type {import("./icons.js").IconName} */ (control.dataset.icon)));
  if (!control.textContent?.trim()) control.title = control.getAttribute("aria-label") ?? "";
}

new Page().start();
