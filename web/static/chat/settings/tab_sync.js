/**
 * Applies settings chosen in one tab to all tabs: the theme at once; the language by a reload, as soon as
 * no form is open whose text a reload would lose (drafts of messages are kept). What the user has chosen for all chats is
 * told to whatever shows it.
 */

/** @import {Theme} from "./preferences.js" */
/** @import {Preferences} from "../types.js" */

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
