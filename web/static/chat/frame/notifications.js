/** Notifications of the browser: that an answer is ready while the tab is hidden. They name the chat, and nothing of its text. */

import { t } from "../i18n.js";
import { setNotifications, wantsNotifications } from "../settings/preferences.js";

/** Chosen, and still allowed: the permission can be taken back in the browser. */
export const areOn = () =>
  "Notification" in globalThis && Notification.permission === "granted" && wantsNotifications();

/**
 * Asks the browser, which asks the user. Only in answer to a click.
 * @returns {Promise<"granted"|"denied"|"missing">} missing: the browser has no notifications of pages
 */
export async function askPermission() {
  if (!canNotify()) return "missing";
  return (await Notification.requestPermission()) === "granted" ? "granted" : "denied";
}

/** Chromium on Android has the class, and throws where it is used without a service worker. */
function canNotify() {
  if (!("Notification" in globalThis)) return false;
  if (Notification.permission === "granted") return true;
  try {
    // Not allowed yet, so nothing is shown.
    new Notification("");
    return true;
  } catch {
    return false;
  }
}

/**
 * Tells that a turn has ended. Of one chat, whichever tab or answer it is, the newest replaces those before it.
 * @param {{id: string, title: string}} session
 * @param {wire.StopReason} reason
 */
export function notifyOfEnd({ id, title }, reason) {
  const notice = noticeOf(reason, { isHidden: document.hidden, isOn: areOn() });
  if (!notice) return;
  const body = notice === "failed" ? t("The answer failed.") : t("The answer is ready.");
  // Icons of notifications are no SVG.
  const icon = document.querySelector('link[rel="apple-touch-icon"]')?.getAttribute("href") ?? "";
  try {
    const shown = new Notification(title || "Turnwire", { body, icon, tag: id });
    shown.onclick = () => {
      focus();
      location.hash = id;
      shown.close();
    };
  } catch {
    // As in canNotify, where the permission was there before. The settings say that they are off.
    setNotifications("off");
  }
}

// Whether the end of a turn is told by a notification, and as what. Pure.

/**
 * Nobody needs to be told what they see, or of what they stopped themselves.
 * @param {wire.StopReason} reason
 * @param {{isHidden: boolean, isOn: boolean}} tab
 * @returns {"ready"|"failed"|null}
 */
export function noticeOf(reason, { isHidden, isOn }) {
  if (!isHidden || !isOn || reason === "user_cancelled") return null;
  return reason === "error" ? "failed" : "ready";
}
