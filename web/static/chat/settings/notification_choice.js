/** The setting that turns notifications on, and says why they stay off. */

import { areOn, askPermission } from "../frame/notifications.js";
import { radioGroup } from "../elements/radio_group.js";
import { h } from "../elements/element.js";
import { t } from "../i18n.js";
import { setNotifications } from "./preferences.js";

export function notificationChoice() {
  /** @type {{value: "off"|"on", label: string}[]} */
  const offered = [
    { value: "off", label: t("Off") },
    { value: "on", label: t("On") },
  ];
  const status = h("p", { class: "hint", role: "status" });
  const group = radioGroup(t("Notify me of answers while this tab is hidden"), offered, areOn() ? "on" : "off", choose);
  group.append(status);
  return group;

  /** @param {"off"|"on"} wanted */
  async function choose(wanted) {
    setNotifications(wanted);
    status.textContent = "";
    const permission = wanted === "on" ? await askPermission() : "granted";
    if (permission === "granted") return;
    setNotifications("off");
    /** @type {HTMLInputElement} */ (group.querySelector('input[value="off"]')).checked = true;
    status.textContent =
      permission === "missing"
        ? t("This browser has no notifications for pages.")
        : t("Notifications are not allowed. Allow them for this page in the browser, then turn them on again.");
  }
}
