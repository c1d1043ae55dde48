/** What the palette offers: the entries of the menus and the controls of the page as they are now, and what the user has. */

import { projectAddress, knowledgeAddress, sessionAddress } from "./address.js";
import { matchesIn } from "../conversation/search_marks.js";
import { menuItems } from "../elements/menu.js";
import { t } from "../i18n.js";
import { readNewest } from "../server/api.js";
import { titleOf } from "../sessions/session_row.js";
import { themes } from "../settings/settings_dialog.js";
import { setTheme } from "../settings/preferences.js";

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
 * @property {import("./temporary_chat.js").TemporaryChat} temporary
 * @property {import("./sidebar.js").Sidebar} sidebar
 * @property {import("./failures.js").Failures} failures
 * @property {(address: string) => void} open
 */

/** Chats that are shown at once. */
const MOST = 8;
const RECENT = 5;

/** @param {string} id @returns {any} an element of page.html */
const part = (id) => document.getElementById(id);

/** @param {Page} page @returns {Entry[]} all that are known here */
export function pageEntries(page) {
  return [...actions(page), ...agents(page), ...projects(page), ...bases(page)];
}

/** Those that have all words. @template {{label: string, terms?: string}} T @param {T[]} entries @param {string} query @returns {T[]} */
export function withWords(entries, query) {
  const words = query.split(/\s+/).filter(Boolean);
  return entries.filter(({ label, terms = "" }) =>
    words.every((word) => matchesIn(`${label} ${terms}`, word).length > 0),
  );
}

/** @param {Page} page @returns {Entry[]} */
export function recentChats(page) {
  const { pinned, sessions } = page.sessions.store.shown;
  return [...pinned, ...sessions].slice(0, RECENT).map((session) => chat(page, session, "", t("Recent chats")));
}

/** @param {Page} page @param {string} query @returns {Promise<Entry[]>} */
export async function searchChats(page, query) {
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
