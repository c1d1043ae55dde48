/**
 * Applies settings chosen in one tab to all tabs: the theme at once; the language by a reload, as soon as
 * no form is open whose text a reload would lose (drafts of messages are kept).
 */

/** @import {Theme} from "./preferences.js" */

/** @typedef {{theme?: Theme, language?: string}} Choice */

const CHANNEL = "turnwire.settings";
const UNSAVED_FORMS = "dialog[open], article textarea, form[data-unsaved]";
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

/** @param {Choice} choice */
function applyChoice({ theme, language }) {
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
