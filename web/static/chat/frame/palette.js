/**
 * The palette and what it offers: the entries of the menus and the controls of the page as they are now, and what the
 * user has. Loaded with the first use.
 */

import { isComposing } from "../elements/text_field.js";
import { dialog, open } from "../elements/dialogs.js";
import { h } from "../elements/element.js";
import { icon } from "../elements/icons.js";
import { t, tn } from "../i18n.js";
import { matchParts, matchesIn } from "../conversation/search_marks.js";
import { projectAddress, knowledgeAddress, sessionAddress } from "./address.js";
import { menuItems } from "../elements/menu.js";
import { readNewest } from "../server/api.js";
import { titleOf } from "../sessions/session_row.js";
import { themes } from "../settings/settings_dialog.js";
import { setTheme } from "../settings/preferences.js";

const PAUSE_MS = 200;

/** @param {Page} page */
export function openPalette(page) {
  new Palette(page);
}

class Palette {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    /** What the server has found for the text in the field, or was asked for one before it. @type {Entry[]} */
    this.chats = [];
    /** @type {Entry[]} */
    this.shown = [];
    this.at = 0;
    this.timer = 0;
    this.list = h("div", { role: "listbox", id: "palette-list", class: "menu", "aria-label": t("Found") });
    this.status = h("p", { class: "hint", role: "status" });
    this.field = h("input", {
      type: "text",
      role: "combobox",
      autocomplete: "off",
      enterKeyHint: "go",
      placeholder: t("Find chats and actions"),
      "aria-label": t("Find chats and actions"),
      "aria-autocomplete": "list",
      "aria-expanded": "true",
      "aria-controls": this.list.id,
    });
    this.dialog = dialog(
      t("Find chats and actions"),
      { class: "palette", closed: () => clearTimeout(this.timer) },
      this.list,
      this.status,
    );
    const head = this.dialog.querySelector(".dialog-head");
    head.querySelector("h2").className = "unseen";
    head.prepend(icon("search"), this.field);
    this.field.addEventListener("input", () => this.#onInput());
    this.field.addEventListener("keydown", (event) => this.#onKey(event));
    // Clicks on the list do not take the focus from the field.
    this.list.addEventListener("pointerdown", (event) => event.preventDefault());
    page.sidebar.closeDrawer();
    open(this.dialog);
    this.field.focus();
    this.#show();
    page.knowledge
      .load()
      .then(({ store }) => store.ready)
      .then(() => this.#show(this.at))
      .catch(this.page.failures.failed);
  }

  get #query() {
    return this.field.value.trim();
  }

  #onInput() {
    clearTimeout(this.timer);
    this.chats = [];
    if (this.#query) this.timer = setTimeout(() => this.#search(), PAUSE_MS);
    this.#show();
  }

  async #search() {
    const query = this.#query;
    const found = await searchChats(this.page, query).catch(() => /** @type {null} */ (null));
    if (query !== this.#query) return;
    this.chats = found ?? [];
    this.#show(this.at);
    if (!found) this.status.textContent = t("Chats cannot be searched now.");
    else
      this.status.textContent = this.shown.length
        ? tn("%(count)s result", "%(count)s results", this.shown.length)
        : t("Nothing has this");
  }

  /** What the server finds stands last, so that it moves nothing that may be chosen already. @param {number} [at] */
  #show(at = 0) {
    if (!this.dialog.open) return;
    const known = withWords(pageEntries(this.page), this.#query);
    this.shown = this.#query ? [...known, ...this.chats] : [...recentChats(this.page), ...known];
    this.status.textContent = "";
    const groups = Map.groupBy(this.shown, ({ group }) => group);
    this.shown = [...groups.values()].flat();
    this.list.replaceChildren(...[...groups].map(([name, entries]) => this.#group(name, entries)));
    this.#mark(Math.min(at, Math.max(0, this.shown.length - 1)));
  }

  /** @param {string} name @param {Entry[]} entries */
  #group(name, entries) {
    const options = entries.map((entry) => this.#option(entry, this.shown.indexOf(entry)));
    return h(
      "div",
      { role: "group", "aria-label": name },
      h("div", { class: "group-name", "aria-hidden": "true" }, name),
      ...options,
    );
  }

  /** @param {Entry} entry @param {number} i */
  #option(entry, i) {
    const mark = entry.emoji || (typeof entry.icon === "string" ? icon(entry.icon) : (entry.icon ?? null));
    const match =
      entry.match &&
      h(
        "small",
        {},
        ...matchParts(entry.match, this.#query).map(({ text, isFound }) => (isFound ? h("mark", {}, text) : text)),
      );
    const label = h(
      "span",
      { class: "label", dir: "auto" },
      entry.label,
      match || (entry.hint && h("small", {}, entry.hint)),
    );
    const option = h(
      "div",
      { role: "option", class: "option", id: `palette-${i}`, onclick: () => this.#choose(entry) },
      h("span", { class: "mark" }, mark),
      label,
    );
    // Not where the list is scrolled below a pointer that rests.
    option.addEventListener("pointermove", () => i !== this.at && this.#mark(i, false));
    return option;
  }

  /** @param {number} at @param {boolean} [scrolls] */
  #mark(at, scrolls = true) {
    this.at = at;
    const options = [...this.list.querySelectorAll("[role=option]")];
    options.forEach((option, i) => option.setAttribute("aria-selected", String(i === at)));
    if (!options[at]) return this.field.removeAttribute("aria-activedescendant");
    this.field.setAttribute("aria-activedescendant", options[at].id);
    // With the name of its group, where it is the first.
    if (at === 0) this.list.scrollTop = 0;
    else if (scrolls) options[at].scrollIntoView({ block: "nearest" });
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    if (isComposing(event)) return;
    const count = this.shown.length;
    if (event.key === "ArrowDown" && count) this.#mark((this.at + 1) % count);
    else if (event.key === "ArrowUp" && count) this.#mark((this.at - 1 + count) % count);
    else if (event.key === "Enter" && count) this.#choose(this.shown[this.at]);
    else if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) this.dialog.close();
    else return;
    event.preventDefault();
  }

  /** @param {Entry} entry */
  #choose({ action }) {
    this.dialog.close();
    // Closing restores the focus; the action may move it afterwards.
    setTimeout(action);
  }
}

/**
 * @typedef {object} Entry
 * @property {string} group
 * @property {string} label
 * @property {import("../elements/icons.js").IconName|SVGElement} [icon]
 * @property {string} [emoji]  in its place
 * @property {string} [hint]
 * @property {string} [terms]  words that find it, beside its label
 * @property {string} [match]  of a text that was found
 * @property {() => void} action  called after the palette has closed
 */

/**
 * @typedef {object} Page
 * @property {import("../sessions/session_sidebar.js").SessionSidebar} sessions
 * @property {import("../projects/projects.js").Projects} projects
 * @property {import("../knowledge/knowledge.js").Knowledge} knowledge
 * @property {import("../composer/answer_settings.js").AnswerSettings} answerSettings
 * @property {import("../conversation/find.js").Find} find
 * @property {import("./chat_notes.js").TemporaryChat} temporary
 * @property {import("./sidebar.js").Sidebar} sidebar
 * @property {import("./connection.js").Failures} failures
 * @property {(address: string) => void} open
 */

/** Chats that are shown at once. */
const MOST = 8;
const RECENT = 5;

/** @param {string} id @returns {any} an element of page.html */
const part = (id) => document.getElementById(id);

/** @param {Page} page @returns {Entry[]} all that are known here */
function pageEntries(page) {
  return [...actions(page), ...agents(page), ...projects(page), ...bases(page)];
}

/** Those that have all words. @template {{label: string, terms?: string}} T @param {T[]} entries @param {string} query @returns {T[]} */
function withWords(entries, query) {
  const words = query.split(/\s+/).filter(Boolean);
  return entries.filter(({ label, terms = "" }) =>
    words.every((word) => matchesIn(`${label} ${terms}`, word).length > 0),
  );
}

/** @param {Page} page @returns {Entry[]} */
function recentChats(page) {
  const { pinned, sessions } = page.sessions.store.shown;
  return [...pinned, ...sessions].slice(0, RECENT).map((session) => chat(page, session, "", t("Recent chats")));
}

/** @param {Page} page @param {string} query @returns {Promise<Entry[]>} */
async function searchChats(page, query) {
  const { results } = await readNewest({ limit: MOST, search: query });
  return results.map((session) => chat(page, session, query, t("Chats")));
}

/** @param {Page} page @param {import("../types.js").Session} session @param {string} query @param {string} group @returns {Entry} */
function chat(page, session, query, group) {
  const action = () => {
    page.open(sessionAddress(session.id, query && session.match_message).slice(1));
    if (session.match_message && query) page.find.opened(session.match_message, query);
  };
  return {
    group,
    label: titleOf(page.sessions.store.get(session.id) ?? session),
    ...(session.is_archived ? { icon: "archive" } : {}),
    match: query ? session.match : "",
    action,
  };
}

/** @param {Page} page @returns {Entry[]} */
function actions(page) {
  const [menu, account] = [part("session-menu"), part("account")];
  const ofMenu = menu.hidden
    ? []
    : menuItems(menu).map((item) => ({ ...item, group: menu.getAttribute("aria-label") }));
  const themed = themes().map(({ value, label, icon }) => ({
    label: t("Theme: %(name)s", { name: label }),
    icon,
    action: () => setTheme(value),
  }));
  const more = [...controls(page), ...menuItems(account), ...themed].map((item) => ({ ...item, group: t("Actions") }));
  return [...ofMenu, ...more];
}

/** @param {Page} page */
function controls(page) {
  const temporary = part("temporary")?.querySelector("button");
  const begin = () => {
    page.open("");
    if (!page.temporary.isChosen) temporary.click();
  };
  return [
    button("new-chat"),
    ...(temporary ? [{ label: temporary.textContent.trim(), icon: temporary.dataset.icon, action: begin }] : []),
    { label: t("New project"), icon: /** @type {const} */ ("folder"), action: () => page.projects.actions.create() },
    {
      label: part("knowledge-link").textContent.trim(),
      icon: /** @type {const} */ ("source"),
      action: () => page.open(knowledgeAddress().slice(1)),
    },
    ...(part("tree-toggle").hidden ? [] : [button("tree-toggle")]),
  ];
}

/** @param {string} id */
function button(id) {
  const control = part(id);
  const action = () => /** @type {HTMLElement} */ (control).click();
  return {
    label: control.getAttribute("aria-label") ?? control.textContent.trim(),
    icon: control.dataset.icon,
    action,
  };
}

/** @param {Page} page @returns {Entry[]} */
function agents({ answerSettings, open }) {
  return answerSettings.agents.agents.map((agent) => ({
    group: t("New chat with an agent"),
    label: agent.name,
    icon: "agent",
    emoji: agent.emoji,
    hint: agent.description,
    action: () => (open(""), answerSettings.choose(agent)),
  }));
}

/** @param {Page} page @returns {Entry[]} */
function projects({ projects, open }) {
  return (projects.store.projects ?? []).map(({ id, name }) => ({
    group: t("Projects"),
    label: name,
    icon: "folder",
    action: () => open(projectAddress(id).slice(1)),
  }));
}

/** @param {Page} page @returns {Entry[]} */
function bases({ knowledge, open }) {
  return (knowledge.section?.store.accepted ?? []).map(({ id, name }) => ({
    group: t("Knowledge bases"),
    label: name,
    icon: "source",
    action: () => open(knowledgeAddress(id).slice(1)),
  }));
}
