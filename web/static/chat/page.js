/** Connects the parts of the page. The URL's fragment names what is open (frame/address.js). */

import { attachAccountMenu } from "./frame/account_menu.js";
import { announcer, Notice } from "./elements/notices.js";
import { AnswerSettings } from "./composer/answer_settings.js";
import { SessionSidebar } from "./sessions/session_sidebar.js";
import { CompressionStatus } from "./conversation/compression.js";
import { Composer } from "./composer/composer.js";
import { Connection, Failures } from "./frame/connection.js";
import { ContextMeter } from "./frame/context_meter.js";
import { Conversation } from "./conversation/conversation.js";
import { decorate } from "./elements/icons.js";
import { Find } from "./conversation/find.js";
import { draftOf, Drafts } from "./composer/drafts.js";
import { LimitStatus } from "./usage/limit_status.js";
import { LiveSession } from "./server/live_session.js";
import { attachMenu } from "./elements/menu.js";
import { showModelNotices, TemporaryChat } from "./frame/chat_notes.js";
import { messageActions, TurnActions } from "./conversation/turn_actions.js";
import { readAddress } from "./frame/address.js";
import { Knowledge } from "./knowledge/knowledge.js";
import { Projects } from "./projects/projects.js";
import { MessageSender } from "./composer/message_sender.js";
import { notifyOfEnd } from "./frame/notifications.js";
import { followOtherTabs } from "./settings/preferences.js";
import { RetriedCommand, Socket } from "./server/socket.js";
import { SessionActions } from "./sessions/session_actions.js";
import { hasTrash } from "./sessions/deletion.js";
import { isLive } from "./state/session_state.js";
import { Suggestions } from "./composer/suggestions.js";
import { attachShortcuts } from "./frame/shortcuts.js";
import { Sidebar } from "./frame/sidebar.js";
import { showTags } from "./tags/tags.js";
import { RunStopper } from "./composer/run_stopper.js";
import { TitleBar } from "./frame/title_bar.js";
import { TreeToggle } from "./tree/tree_toggle.js";

/** @param {string} id @returns {any} an element of page.html; its kind is known there */
const part = (id) => document.getElementById(id);

/** For screen readers. */
const announce = announcer(part("announcer"));

class Page {
  constructor() {
    /** @type {LiveSession|null} */
    this.live = null;
    this.notice = new Notice(part("notice"));
    const { failed, attempt } = (this.failures = new Failures(this.notice));
    this.connection = new Connection(part("connection"), () => this.notice.settle("too_many_sockets", "unreachable"));
    this.sidebar = new Sidebar({
      sidebar: part("sidebar"),
      toggle: part("sidebar-toggle"),
      close: part("sidebar-close"),
      backdrop: part("backdrop"),
      main: document.querySelector("main"),
    });
    this.title = new TitleBar({
      title: part("title"),
      project: part("project-link"),
      menu: part("session-menu"),
      field: part("composer-text"),
    });
    this.projects = this.#createProjects();
    this.knowledge = new Knowledge(
      { view: part("knowledge"), link: part("knowledge-link") },
      { open: (address) => this.#goTo(address), changed: () => this.#drawFrame(), announce, ...this.failures },
    );
    this.actions = this.#sessionActions();
    this.sessions = this.#createSessions();
    this.temporary = new TemporaryChat({ choice: part("temporary"), note: part("temporary-note") }, (session) =>
      this.sessions.change(session, { is_temporary: false }),
    );
    this.answerSettings = this.#createAnswerSettings();
    this.answerSettings.ready.then(() => this.projects.redraw());
    this.turn = new TurnActions({
      live: () => this.live,
      models: () => this.answerSettings.models,
      offered: () => this.answerSettings.offered,
      session: () => this.sessions.open,
      failed,
    });
    this.sender = this.#createSender();
    this.stopper = new RunStopper({
      state: () => this.live?.state ?? null,
      stopRun: (run) => this.turn.stopRun(run),
      changed: () => this.#draw(),
    });
    const { turn, stopper, sender } = this;
    this.conversation = new Conversation(
      part("scroller"),
      part("conversation"),
      messageActions({
        turn,
        stopper,
        sender,
        offered: () => this.answerSettings.offered,
        agent: () => this.answerSettings.agents.agent,
        readOlder: (limit) => this.live?.readOlder(limit),
        announce,
        compression: () => this.compression,
      }),
    );
    this.composer = this.#createComposer();
    this.suggestions = new Suggestions(
      { list: part("suggestions"), welcome: part("welcome"), start: part("start") },
      {
        composer: this.composer,
        settings: this.answerSettings,
        recent: () => this.sessions.store.shown.sessions,
        failed,
      },
    );
    this.compression = new CompressionStatus(part("compression"), { live: () => this.live, attempt, failed });
    this.tree = new TreeToggle(part("tree-toggle"), {
      live: () => this.live,
      select: (id) => this.turn.select(id),
      reveal: (id) => this.conversation.reveal(id),
      failed,
    });
    this.find = new Find(part("bar"), () => this.live?.state.session ?? null, {
      seek: (...what) => (this.conversation.seek(...what), this.#draw()),
      reveal: (id) => this.conversation.reveal(id),
      failed,
    });
    this.context = new ContextMeter(part("context-meter"), {
      live: () => this.live,
      reveal: (id) => this.conversation.reveal(id),
      failed,
    });
    this.limits = new LimitStatus(part("limits"));
    this.socket = this.#connect();
    // What was not watched may have changed. After the reply, the lists are read too: nothing is missed in between.
    this.watching = new RetriedCommand(
      this.socket,
      () => ({ type: "watch_sessions" }),
      () => this.#onFrame({ type: "sessions_resync" }),
    );
    this.#listen();
  }

  start() {
    this.#open();
    this.composer.takeOver();
  }

  /** @returns {SessionSidebar} */
  #createSessions() {
    return new SessionSidebar(
      {
        nav: part("sessions"),
        field: part("search"),
        status: part("search-status"),
        tag: part("tag-filter"),
        waiting: part("waiting"),
      },
      {
        state: () => this.live?.state ?? null,
        actions: this.actions,
        changed: () => (this.#drawFrame(), this.#draw()),
        gone: (id, isForGood) => this.#onDeleted(id, isForGood),
        ...this.failures,
      },
    );
  }

  /** @returns {Projects} */
  #createProjects() {
    return new Projects(
      { nav: part("projects"), view: part("project") },
      {
        chats: () => this.sessions.rowActions,
        openChat: () => this.live?.state.session ?? null,
        models: () => this.answerSettings.picker.models,
        open: (id) => this.#goTo(`project/${id}`),
        gone: () => this.#goTo(""),
        moved: (session, project) => this.sessions.store.assume(session, { project }),
        changed: () => this.#drawFrame(),
        announce,
        ...this.failures,
      },
    );
  }

  #createAnswerSettings() {
    return new AnswerSettings(
      {
        models: part("models"),
        agents: part("agents"),
        bases: part("bases"),
        tool: part("tool"),
        options: part("options"),
        field: part("composer-text"),
      },
      {
        session: () => this.sessions.open,
        isNew: () => this.live === null,
        assume: (id, fields) => this.sessions.store.assume(id, fields),
        offered: showModelNotices,
        chosen: (agent) => this.suggestions?.show(agent),
        knowledge: () => this.knowledge.load().then(({ store }) => store),
        manage: () => import("./agents/agents_dialog.js").then((agents) => agents.openAgents(this.failures.failed)),
        ...this.failures,
      },
    );
  }

  #createSender() {
    return new MessageSender({
      live: () => this.live,
      answering: this.answerSettings,
      turn: this.turn,
      project: () => this.projects.open,
      isTemporary: () => this.temporary.isChosen,
      place: () => this.address,
      isNamedLater: "namedLater" in part("title").dataset,
      created: (session, beginning, place) => {
        this.sessions.store.add(session, beginning);
        this.composer.becomes(session.id);
        if (this.address === place) this.#goTo(session.id);
        else this.composer.open(this.live?.state.session ?? null);
      },
      giveBack: (session, question) => (
        this.conversation.edits.forget(question.id),
        this.composer.giveBack(session, draftOf(question))
      ),
      attempt: this.failures.attempt,
      changed: () => this.#draw(),
    });
  }

  #createComposer() {
    const form = part("composer");
    return new Composer(
      form,
      new Drafts(localStorage, form.dataset.user, Date.now, {
        storage: sessionStorage,
        holds: (id) => Boolean(this.sessions.store.get(id)?.is_temporary),
      }),
      {
        send: (text, files) => {
          this.notice.hide();
          this.conversation.goToEnd();
          return this.sender.send(text, files);
        },
        stop: () => this.stopper.stop(),
        editLatest: () => this.sender.withdrawLatest() || this.conversation.editLast(),
        choose: (mode) => this.answerSettings.chooseMode(mode),
        files: {
          models: () => this.answerSettings.models,
          withoutVision: () => this.answerSettings.withoutVision,
          announce,
          failed: this.failures.failed,
        },
      },
    );
  }

  #connect() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    return new Socket(`${scheme}://${location.host}/ws/`, {
      opened: () => {
        this.live?.subscribe();
        this.watching.send();
        for (const each of [this.stopper, this.projects, this.composer.files, this.answerSettings]) each.reconnected();
      },
      received: (frame) => this.#onFrame(frame),
      changed: (state) => this.connection.follow(state),
    });
  }

  #listen() {
    decorate(document);
    followOtherTabs();
    addEventListener("hashchange", () => location.hash !== this.opened && this.#open());
    part("new-chat").addEventListener("click", () => this.#goTo(""));
    // The fragment names the session, so the skip link cannot work by its own.
    part("skip").addEventListener(
      "click",
      (/** @type {Event} */ event) => (event.preventDefault(), this.composer.focus()),
    );
    part("sidebar").addEventListener("click", (/** @type {any} */ event) => this.#followed(event.target.closest("a")));
    attachAccountMenu(part("account"), {
      logout: part("logout"),
      archive: () => this.sessions.openArchive(),
      trash: () => this.sessions.openTrash(),
      failed: this.failures.failed,
    });
    attachMenu(part("session-menu"), () => this.#menu());
    attachShortcuts({
      palette: part("palette"),
      openPalette: () =>
        import("./frame/palette.js").then(
          (m) => m.openPalette({ ...this, open: (/** @type {string} */ address) => this.#goTo(address) }),
          this.failures.failed,
        ),
      search: part("search"),
      newChat: part("new-chat"),
      sidebar: this.sidebar,
    });
  }

  #sessionActions() {
    return new SessionActions({
      ...this.failures,
      change: (session, fields) => this.sessions.change(session, fields),
      changed: () => this.sessions.store.refresh(),
      projectItems: (session) => this.projects.actions.itemsOf(session),
      removed: (id) => (this.sessions.store.remove(id), this.#onDeleted(id)),
    });
  }

  /** Forgets a session that was deleted, here or elsewhere; one that can be restored keeps its draft. @param {string} id @param {boolean} [isForGood] */
  #onDeleted(id, isForGood = !hasTrash()) {
    if (isForGood) this.composer.forget(id);
    this.conversation.edits.forgetSession(id);
    if (this.live?.state.session === id) this.#goTo("");
  }

  /** The menu of the open session or project. */
  #menu() {
    if (!this.live) return this.knowledge.place?.items ?? this.projects.actions.items(this.projects.current);
    const { state } = this.live;
    const session = this.sessions.open ?? /** @type {any} */ ({ id: state.session, title: "" });
    return this.actions.items(session).toSpliced(-1, 0, this.find.item(), this.compression.item());
  }

  // --- The open session -----------------------------------------------------------------------------------------

  #open() {
    const { session: id, message, project, knowledge } = (this.address = readAddress((this.opened = location.hash)));
    if (this.live?.state.session !== id) {
      this.temporary.left(this.sessions.open);
      this.live?.close();
      this.conversation.clear();
      this.stopper.forget();
      // The socket pushes changes of all sessions.
      this.live =
        id &&
        new LiveSession(id, this.socket, {
          changed: () => this.#draw(),
          sessionsChanged: () => {},
          turnEnded: (reason) => notifyOfEnd({ id, title: this.sessions.open?.title ?? "" }, reason),
          failed: this.failures.failed,
        });
    }
    this.projects.show(project);
    // The next new chat searches the base whose page is shown.
    if (knowledge !== this.knowledge.open) this.answerSettings.basesForNew = knowledge ? [knowledge] : [];
    this.knowledge.show(knowledge);
    this.find.opened(message, this.sessions.store.searched);
    this.composer.open(id);
    this.sessions.opened();
    this.#draw();
    this.composer.focus();
  }

  /** @param {HTMLAnchorElement|null} link of the sidebar */
  #followed(link) {
    if (!link) return;
    this.sidebar.closeDrawer();
    // One to where the page is fires no event, and another search may have found the same message.
    if (link.hash && link.hash === location.hash) this.#open();
  }

  /** @param {string} id of a session, or `project/` and that of a project; empty: a new chat */
  #goTo(id) {
    this.sidebar.closeDrawer();
    location.hash = id;
    // An unchanged fragment fires no event; that of a changed one opens nothing twice, which would take the focus back.
    this.#open();
  }

  /** @param {wire.Frame} frame */
  #onFrame(frame) {
    if (frame.type === "error") this.failures.failed(frame);
    if (["subscribed", "sessions_watched"].includes(frame.type))
      this.notice.settle("stream_unavailable", "unavailable");
    for (const each of [
      this.watching,
      this.stopper,
      this.sessions,
      this.projects,
      this.knowledge,
      this.answerSettings,
      this.composer.files,
      this.limits,
    ])
      each.receive(frame);
    this.live?.receive(frame);
  }

  // --- Drawing --------------------------------------------------------------------------------------------

  /** Schedules drawing of the conversation, which changes often. */
  #draw() {
    this.conversation.drawSoon(() => {
      const state = this.live?.state ?? null;
      this.composer.update({
        isAnswering: Boolean(state) && isLive(state, state.branch?.at(-1)),
        ...this.stopper.now,
        mode: this.answerSettings.mode,
      });
      this.sessions.seen.check();
      const pending = this.sender.pendingFor(state);
      this.compression.show(state);
      for (const each of [this.context, this.tree]) each.follow();
      document.body.classList.toggle("begins", this.#isNew && pending === null);
      return { state, pending };
    });
  }

  /** The page of a new chat is shown. */
  get #isNew() {
    return !this.live && !this.projects.open && this.knowledge?.open == null;
  }

  /** Draws the title and the parts around the conversation. */
  #drawFrame() {
    const session = this.sessions?.open;
    this.answerSettings?.show();
    this.temporary?.show(this.#isNew, session);
    showTags(part("tags"), session?.tags ?? [], (tag) => this.sessions.tags.choose(tag));
    this.title.show(
      this.live && { session },
      this.live ? this.projects.store.get(session?.project) : this.projects.current,
      this.knowledge?.place,
      this.sessions?.waiting?.count ?? 0,
    );
    part("scroller").hidden = this.projects.open !== null || this.knowledge?.open != null;
    this.tree?.follow();
  }
}

new Page().start();
