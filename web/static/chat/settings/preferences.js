/**
 * What the user has chosen: for this browser (the theme is a cookie, so that the server renders the page with it) and
 * for all chats. What is chosen in one tab applies to all: the theme at once; the language by a reload, as soon as no
 * form is open whose text a reload would lose (drafts of messages are kept); what holds in all chats is told to
 * whatever shows it.
 */

import { call } from "../server/api.js";

/** @import {Preferences} from "../types.js" */

const YEAR_S = 31_536_000;
const SEND_KEY = "turnwire.sendKey";
const NOTIFICATIONS = "turnwire.notifications";

/** @typedef {"system"|"light"|"dark"} Theme */
/** @typedef {"enter"|"ctrl-enter"} SendKey */

/** @returns {Theme} */
export const theme = () => /** @type {Theme} */ (document.documentElement.dataset.theme ?? "system");

/** @param {Theme} wanted */
export function setTheme(wanted) {
  const safely = location.protocol === "https:" ? "; secure" : "";
  document.cookie = `theme=${wanted}; path=/; max-age=${YEAR_S}; samesite=lax${safely}`;
  document.documentElement.dataset.theme = wanted;
  notifyOtherTabs({ theme: wanted });
}

/**
 * The key that sends a message; the other one inserts a line break. Until it is chosen, Enter breaks the line on devices
 * with a touch screen alone: their keyboards have no Shift+Enter. As in early.js.
 * @returns {SendKey}
 */
export function sendKey() {
  const chosen =
    localStorage.getItem(SEND_KEY) ??
    (matchMedia("(hover: none) and (pointer: coarse)").matches ? "ctrl-enter" : "enter");
  return chosen === "ctrl-enter" ? "ctrl-enter" : "enter";
}

/** @param {SendKey} wanted */
export function setSendKey(wanted) {
  localStorage.setItem(SEND_KEY, wanted);
  // Other tabs receive a storage event.
  dispatchEvent(new StorageEvent("storage", { key: SEND_KEY, newValue: wanted }));
}

/** Whether ends of answers are told by notifications, if the browser allows them. */
export const wantsNotifications = () => localStorage.getItem(NOTIFICATIONS) === "on";

/** @param {"on"|"off"} wanted */
export const setNotifications = (wanted) => localStorage.setItem(NOTIFICATIONS, wanted);

/** @typedef {{theme?: Theme, language?: string, preferences?: Preferences}} Choice */

const CHANNEL = "turnwire.settings";
const UNSAVED_FORMS = "dialog[open], article textarea, form[data-unsaved]";
const PREFERENCES = "turnwire:preferences";
const RETRY_MS = 1000;

/** @type {BroadcastChannel|null} opened on first use */
let channel = null;

/** @param {Choice} choice */
export function notifyOtherTabs(choice) {
  openChannel().postMessage(choice);
}

export function followOtherTabs() {
  openChannel().addEventListener("message", ({ data }) => applyChoice(data));
}

/** Tells this tab and the others what is stored now. @param {Preferences} preferences */
export function sharePreferences(preferences) {
  notifyOtherTabs({ preferences });
  announce(preferences);
}

/** Calls back when preferences were changed, in this tab or in another, while the element is in the page. @param {Element} element @param {(preferences: Preferences) => void} changed */
export function onPreferences(element, changed) {
  const listener = (/** @type {any} */ event) =>
    element.isConnected ? changed(event.detail) : removeEventListener(PREFERENCES, listener);
  addEventListener(PREFERENCES, listener);
}

/** @param {Preferences} preferences */
const announce = (preferences) => dispatchEvent(new CustomEvent(PREFERENCES, { detail: preferences }));

/** @param {Choice} choice */
function applyChoice({ theme, language, preferences }) {
  if (preferences) announce(preferences);
  if (theme) document.documentElement.dataset.theme = theme;
  if (language && language !== document.documentElement.lang) reloadWhenSaved();
}

function reloadWhenSaved() {
  if (document.querySelector(UNSAVED_FORMS)) setTimeout(reloadWhenSaved, RETRY_MS);
  else location.reload();
}

function openChannel() {
  channel ??= new BroadcastChannel(CHANNEL);
  return channel;
}

/** @returns {Promise<Preferences>} */
export const readPreferences = () => call("GET", "preferences/");

/** @param {Partial<Preferences>} changes @returns {Promise<Preferences>} */
export const savePreferences = (changes) => call("PATCH", "preferences/", changes);
