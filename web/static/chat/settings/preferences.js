/** The user's preferences in this browser. The theme is a cookie, so that the server renders the page with it. */

import { notifyOtherTabs } from "./tab_sync.js";

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
