/** Wires the parts of the page to each other. The address's fragment says which session is open. */

import * as api from "./api.js";
import { Composer } from "./composer.js";
import { Conversation } from "./conversation.js";
import { askTitle, confirmDeletion } from "./dialogs.js";
import { LiveSession } from "./live_session.js";
import { ModelPicker } from "./model_picker.js";
import { SessionList, titleOf } from "./session_list.js";
import { isLive, liveAnswers } from "./session_state.js";
import { Socket } from "./socket.js";
import { TurnActions } from "./turn_actions.js";
import { compressionInWords, inWords } from "./words.js";

const TITLE_CHARACTERS = 60;

/** @param {string} id */
const part = (id) => document.getElementById(id);

class Page {
  constructor() {
    /** @type {LiveSession|null} */
    this.live = null;
    /** A message on its way to the server, and the end of the branch it was sent to. */
    this.pending = null;
    /** Runs a stop was asked for. */
    this.stopping = new Set();
    const failed = (error) => this.#failed(error);
    this.picker = new ModelPicker(part("models"));
    this.sessions = new SessionList(part("sessions"), part("more-sessions"), { changed: () => this.#drawFrame(), failed });
    this.turn = new TurnActions({ live: () => this.live, models: () => this.picker.picked, failed });
    this.conversation = new Conversation(part("scroller"), part("conversation"), this.#messageActions());
    this.composer = new Composer(part("composer"), { send: (text) => this.#send(text), stop: () => this.#stop() });
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
    addEventListener("hashchange", () => this.#open());
    part("new-chat").addEventListener("click", () => this.#goTo(""));
    part("rename").addEventListener("click", () => this.#rename());
    part("compress").addEventListener("click", () => this.#compress());
    part("delete").addEventListener("click", () => this.#delete());
    part("dismiss").addEventListener("click", () => (part("notice").hidden = true));
    part("sidebar-toggle").addEventListener("click", () => this.#toggleSidebar());
    part("backdrop").addEventListener("click", () => this.#toggleSidebar(false));
    part("sidebar").addEventListener("click", (event) => event.target.closest("a") && this.#toggleSidebar(false));
  }

  #messageActions() {
    return {
      select: (id) => this.turn.select(id),
      edit: (message, text) => this.turn.edit(message, text),
      regenerate: (message) => this.turn.regenerate(message),
      stopRun: (run) => this.#stop(run),
      announce: (text) => (part("announcer").textContent = text),
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
      failed: (error) => this.#failed(error),
    };
  }

  #goTo(id) {
    this.#toggleSidebar(false);
    location.hash = id;
    // A fragment that did not change fires no event.
    this.#open();
  }

  async #rename() {
    const session = this.sessions.get(this.live?.state.session) ?? { id: this.live?.state.session, title: "" };
    const title = await askTitle(part("rename-dialog"), session.title);
    if (title) await this.#attempt(() => api.renameSession(session.id, title));
    this.sessions.refresh();
  }

  async #delete() {
    const id = this.live?.state.session;
    const session = this.sessions.get(id);
    if (!(await confirmDeletion(part("delete-dialog"), session ? titleOf(session) : "this chat"))) return;
    if (!(await this.#attempt(() => api.deleteSession(id)))) return;
    this.sessions.remove(id);
    this.#goTo("");
  }

  async #compress() {
    const live = this.live;
    await this.#attempt(async () => {
      const { status } = await api.compress(live.state.session);
      if (status === "queued") await live.readSummary();
      else this.#failed({ message: "There is nothing older to summarise yet." });
    });
  }

  // --- Turns -------------------------------------------------------------------------------------------------

  async #send(text) {
    part("notice").hidden = true;
    this.pending = { text, after: this.live?.state.branch?.at(-1)?.id };
    this.conversation.goToEnd();
    this.#draw();
    const isAccepted = (await this.#ensureSession(text)) && (await this.turn.send(text));
    this.pending = null;
    this.#draw();
    return isAccepted;
  }

  /** The first message makes the session, so looking at an empty page leaves nothing behind. */
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
      part("welcome").hidden = Boolean(this.live) || pending !== null;
      return { state, pending };
    });
  }

  #drawCompression(state) {
    const isLong = (state?.branch?.length ?? 0) > 2;
    part("compress").hidden = !isLong || state.compressing === "under_way";
    part("compression").textContent = isLong ? compressionInWords(state.compressing) : "";
  }

  /** Around the conversation: the list, the title. */
  #drawFrame() {
    const id = this.live?.state.session ?? null;
    const session = this.sessions.get(id);
    this.sessions.show(id);
    part("title").textContent = id ? titleOf(session ?? { title: "Chat" }) : "New chat";
    document.title = `${part("title").textContent} · Turnwire`;
    part("rename").hidden = part("delete").hidden = id === null;
  }

  #toggleSidebar(isOpen = !document.body.classList.contains("with-sidebar")) {
    document.body.classList.toggle("with-sidebar", isOpen);
    part("sidebar-toggle").setAttribute("aria-expanded", String(isOpen));
  }

  #connectionChanged(state) {
    if (state === "signed_out") location.assign("/login/");
    part("connection").hidden = state === "connected";
  }

  async #attempt(action) {
    try {
      await action();
      return true;
    } catch (error) {
      this.#failed(error);
      return false;
    }
  }

  #failed(error) {
    if (error.status === 401) location.assign("/login/");
    part("notice-text").textContent = inWords(error);
    part("notice").hidden = false;
  }
}

new Page().start();
