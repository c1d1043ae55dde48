/** Wires the parts of the page to each other. The address's fragment says which session is open. */

import * as api from "./server/api.js";
import { attachAccountMenu } from "./frame/account_menu.js";
import { Answering } from "./composer/answering.js";
import { Chats } from "./sessions/chats.js";
import { Compressing } from "./frame/compressing.js";
import { Composer } from "./composer/composer.js";
import { Connection } from "./frame/connection.js";
import { Conversation } from "./conversation/conversation.js";
import { decorate } from "./elements/decorate.js";
import { Drafts } from "./composer/drafts.js";
import { FileDoor } from "./composer/file_door.js";
import { t } from "./i18n.js";
import { LiveSession } from "./server/live_session.js";
import { toLogin } from "./frame/login_again.js";
import { attachMenu } from "./elements/menu.js";
import { Notice } from "./elements/notice.js";
import { Sending } from "./composer/sending.js";
import { followOtherTabs } from "./settings/other_tabs.js";
import { SessionActions } from "./sessions/session_actions.js";
import { titleOf } from "./sessions/session_list.js";
import { isLive } from "./state/session_state.js";
import { Sidebar } from "./frame/sidebar.js";
import { Socket } from "./server/socket.js";
import { Stopping } from "./composer/stopping.js";
import { TreeToggle } from "./tree/tree_toggle.js";
import { TurnActions } from "./conversation/turn_actions.js";

/** @param {string} id @returns {any} an element of page.html; its kind is known there */
const part = (id) => document.getElementById(id);

class Page {
  constructor() {
    /** @type {LiveSession|null} */
    this.live = null;
    /** @param {any} error */
    const failed = (error) => this.#failed(error);
    this.notice = new Notice(part("notice"));
    this.connection = new Connection(part("connection"));
    this.sidebar = new Sidebar({ sidebar: part("sidebar"), toggle: part("sidebar-toggle"), close: part("sidebar-close"), backdrop: part("backdrop"), main: document.querySelector("main") });
    this.actions = this.#sessionActions();
    this.sessions = this.#chats();
    this.answering = this.#answering();
    this.turn = new TurnActions({ live: () => this.live, models: () => this.answering.models, offered: () => this.answering.offered, failed });
    this.sending = this.#sending();
    this.stopping = new Stopping({ state: () => this.live?.state ?? null, stopRun: (run) => this.turn.stopRun(run), changed: () => this.#draw() });
    this.conversation = new Conversation(part("scroller"), part("conversation"), this.#messageActions());
    this.composer = this.#composer();
    this.compressing = new Compressing(part("compression"), { live: () => this.live, attempt: (action) => this.#attempt(action), failed });
    this.tree = new TreeToggle(part("tree-toggle"), { live: () => this.live, select: (id) => this.turn.select(id), reveal: (id) => this.conversation.reveal(id), failed });
    this.socket = this.#connect();
    this.#listen();
  }

  start() {
    this.#open();
    this.composer.takeOver();
  }

  #chats() {
    return new Chats(
      { nav: part("sessions"), field: part("search"), status: part("search-status") },
      {
        state: () => this.live?.state ?? null,
        actions: this.actions,
        attempt: (action) => this.#attempt(action),
        changed: () => {
          this.#drawFrame();
          this.#draw();
        },
        gone: (id) => this.#gone(id),
        failed: (error) => this.#failed(error),
      },
    );
  }

  #answering() {
    return new Answering(
      { models: part("models"), agents: part("agents"), tool: part("tool") },
      {
        session: () => this.sessions.open,
        isNew: () => this.live === null,
        assume: (id, fields) => this.sessions.store.assume(id, fields),
        attempt: (action) => this.#attempt(action),
        offered: (models) => (part("demo-notice").hidden = !models.some((model) => model.is_default && model.is_demo)),
        manage: () => import("./settings/agents_dialog.js").then((agents) => agents.openAgents((error) => this.#failed(error))),
        failed: (error) => this.#failed(error),
      },
    );
  }

  #sending() {
    return new Sending({
      live: () => this.live,
      answering: this.answering,
      turn: this.turn,
      isNamedLater: "namedLater" in part("title").dataset,
      begun: (session, beginning) => {
        this.sessions.store.begun(session, beginning);
        this.composer.becomes(session.id);
        this.#goTo(session.id);
      },
      giveBack: (session, text) => this.composer.giveBack(session, { text, pasted: [] }),
      attempt: (action) => this.#attempt(action),
      changed: () => this.#draw(),
    });
  }

  #composer() {
    const form = part("composer");
    new FileDoor(form);
    return new Composer(form, new Drafts(localStorage, form.dataset.user), {
      send: (text) => {
        this.notice.hide();
        this.conversation.goToEnd();
        return this.sending.send(text);
      },
      stop: () => this.stopping.stop(),
      editLatest: () => this.sending.withdrawLatest() || this.conversation.editLast(),
      choose: (mode) => this.answering.chooseMode(mode),
    });
  }

  #connect() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    return new Socket(`${scheme}://${location.host}/ws/`, {
      opened: () => {
        this.live?.subscribe();
        this.sessions.watch(this.socket);
      },
      received: (object) => this.#received(object),
      changed: (state) => this.#connectionChanged(state),
    });
  }

  #listen() {
    decorate(document);
    followOtherTabs();
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
      changed: () => this.sessions.store.refresh(),
      removed: (id) => {
        this.sessions.store.remove(id);
        this.#gone(id);
      },
    });
  }

  /** A chat that was deleted, here or elsewhere. @param {string} id */
  #gone(id) {
    this.composer.forget(id);
    if (this.live?.state.session === id) this.#goTo("");
  }

  /** Of the open session. */
  #sessionMenu() {
    const { state } = this.live;
    const session = this.sessions.open ?? /** @type {any} */ ({ id: state.session, title: "" });
    return this.actions.items(session).toSpliced(-1, 0, this.compressing.item());
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
      regenerate: (/** @type {Message} */ message, /** @type {string|undefined} */ model) => this.turn.regenerate(message, model),
      models: () => this.answering.offered,
      readRun: api.readRun,
      readToolOutput: (/** @type {string} */ message, /** @type {string} */ call) => this.turn.readToolOutput(message, call),
      giveFeedback: (/** @type {string} */ message, /** @type {any} */ feedback) => this.turn.giveFeedback(message, feedback),
      stopRun: (/** @type {string} */ run) => this.stopping.stop(run),
      withdraw: (/** @type {Message} */ question) => this.sending.withdraw(question),
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
      this.stopping.forget();
      this.live = id && new LiveSession(id, this.socket, this.#sessionListener());
    }
    this.composer.open(id);
    this.sessions.opened();
    this.#draw();
    this.composer.focus();
  }

  #sessionListener() {
    return {
      changed: () => this.#draw(),
      sessionsChanged: () => {}, // the socket tells of all sessions
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

  /** @param {any} object */
  #received(object) {
    if (object.type === "error") {
      // Answers to what this page asked for in the background heal by themselves; refused stops are worth a word.
      this.stopping.forget();
      this.#failed(object);
    }
    this.sessions.receive(object);
    this.live?.receive(object);
  }

  // --- What shows --------------------------------------------------------------------------------------------

  /** The conversation: often, so only when the browser is ready for it. */
  #draw() {
    this.conversation.drawSoon(() => {
      const state = this.live?.state ?? null;
      this.composer.update({
        isAnswering: Boolean(state) && isLive(state, state.branch?.at(-1)),
        ...this.stopping.now,
        mode: this.answering.mode,
      });
      this.sessions.seen.check();
      const pending = this.sending.textFor(state);
      this.compressing.show(state);
      this.tree.follow();
      part("welcome").hidden = Boolean(this.live) || pending !== null;
      return { state, pending };
    });
  }

  /** Around the conversation: the list, the title. */
  #drawFrame() {
    const id = this.live?.state.session ?? null;
    const session = this.sessions.open;
    this.answering?.show();
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

new Page().start();
