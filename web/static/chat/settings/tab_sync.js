/**
 * Applies settings chosen in one tab to all tabs: the theme at once; the language by a reload, as soon as
 * no form is open whose text a reload would lose (drafts of messages are kept).
 */

/** @import {Theme} from "./preferences.js" */

/** @typedef {{theme?: Theme, language?: string}} Choice */

const CHANNEL = "turnwire.settings";
const UNKEPT = "dialog[open], article textarea";
const AGAIN_MS = 1000;

/** @type {BroadcastChannel|null} opened when it is needed first */
let channel = null;

/** @param {Choice} choice */
export function notifyOtherTabs(choice) {
  opened().postMessage(choice);
}

export function followOtherTabs() {
  opened().addEventListener("message", ({ data }) => follow(data));
}

/** @param {Choice} choice */
function follow({ theme, language }) {
  if (theme) document.documentElement.dataset.theme = theme;
  if (language && language !== document.documentElement.lang) reload();
}

function reload() {
  if (document.querySelector(UNKEPT)) setTimeout(reload, AGAIN_MS);
  else location.reload();
}

function opened() {
  channel ??= new BroadcastChannel(CHANNEL);
  return channel;
}
