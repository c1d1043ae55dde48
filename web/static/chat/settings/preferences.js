/** What this browser remembers of its reader's wishes. The theme is a cookie, so that the server draws the page in it. */

import { tellOtherTabs } from "./other_tabs.js";

const YEAR_S = 31_536_000;
const SEND_KEY = "turnwire.sendKey";

/** @typedef {"system"|"light"|"dark"} Theme */
/** @typedef {"enter"|"ctrl-enter"} SendKey */

/** @returns {Theme} */
export const theme = () => /** @type {Theme} */ (document.documentElement.dataset.theme ?? "system");

/** @param {Theme} wanted */
export function setTheme(wanted) {
  const safely = location.protocol === "https:" ? "; secure" : "";
  document.cookie = `theme=${wanted}; path=/; max-age=${YEAR_S}; samesite=lax${safely}`;
  document.documentElement.dataset.theme = wanted;
  tellOtherTabs({ theme: wanted });
}

/** What sends a message; the other one breaks the line. @returns {SendKey} */
export const sendKey = () => (localStorage.getItem(SEND_KEY) === "ctrl-enter" ? "ctrl-enter" : "enter");

/** @param {SendKey} wanted */
export function setSendKey(wanted) {
  localStorage.setItem(SEND_KEY, wanted);
  // Other tabs hear of it by themselves.
  dispatchEvent(new StorageEvent("storage", { key: SEND_KEY, newValue: wanted }));
}
