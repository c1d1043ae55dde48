/** The settings dialog: theme, language, the key that sends, notifications, what holds in all chats, API tokens, limits, usage. */

import * as api from "../server/api.js";
import * as preferences from "./preferences.js";
import { radioGroup } from "../elements/forms.js";
import { dialog, open } from "../elements/dialogs.js";
import { h } from "../elements/element.js";
import { icon } from "../elements/icons.js";
import { language, t } from "../i18n.js";
import { notifyOtherTabs } from "./tab_sync.js";
import { TokensView } from "./tokens_view.js";
import { DefaultModels } from "./default_models.js";
import { OwnInstructions } from "./own_instructions.js";
import { readPreferences } from "../server/preferences_api.js";
import { LimitsTable } from "../usage/limits_table.js";
import { usageTable } from "../usage/usage_table.js";
import { areOn, askPermission } from "../frame/notifications.js";
import { setNotifications } from "./preferences.js";

/** @typedef {(error: any) => void} Failed */

/** @param {Failed} failed */
export function openSettings(failed) {
  /** @type {Failed} */
  const failedAndAway = (error) => {
    settings.close();
    failed(error);
  };
  const limits = new LimitsTable(failedAndAway);
  const tokens = new TokensView(failedAndAway, () => limits.read());
  const instructions = new OwnInstructions(failedAndAway);
  const models = new DefaultModels(failedAndAway);
  Promise.all([readPreferences(), api.readModels()]).then(([preferences, offered]) => {
    instructions.show(preferences);
    models.offer(offered, preferences);
  }, failedAndAway);
  const content = [
    appearance(),
    languages(failedAndAway),
    keyboard(),
    notificationChoice(),
    instructions.element,
    models.element,
    tokens.element,
    limits.element,
    usageTable(failedAndAway),
  ];
  const settings = dialog(t("Settings"), { class: "large" }, h("div", { class: "sections" }, ...content));
  open(settings);
}

/** @returns {{value: preferences.Theme, label: string, icon: SVGElement}[]} */
export const themes = () => [
  { value: "system", label: t("System"), icon: icon("settings") },
  { value: "light", label: t("Light"), icon: icon("sun") },
  { value: "dark", label: t("Dark"), icon: icon("moon") },
];

const appearance = () => radioGroup(t("Theme"), themes(), preferences.theme(), preferences.setTheme);

/** The languages, each named in itself. @param {Failed} failed */
function languages(failed) {
  const offered = [
    { value: "en", label: "English" },
    { value: "ar", label: "العربية" },
    { value: "de", label: "Deutsch" },
    { value: "es", label: "Español" },
    { value: "fr", label: "Français" },
    { value: "zh-hans", label: "简体中文" },
  ];
  // Parts of the page are rendered by the server, so it is reloaded; drafts are kept.
  const begin = (/** @type {string} */ chosen) => {
    notifyOtherTabs({ language: chosen });
    location.reload();
  };
  return radioGroup(t("Language"), offered, language, (value) =>
    api.chooseLanguage(value).then(() => begin(value), failed),
  );
}

function keyboard() {
  /** @type {{value: preferences.SendKey, label: string}[]} */
  const keys = [
    { value: "enter", label: t("Enter") },
    { value: "ctrl-enter", label: /Mac|iP/.test(navigator.platform) ? t("⌘ Enter") : t("Ctrl+Enter") },
  ];
  return radioGroup(t("Send with"), keys, preferences.sendKey(), preferences.setSendKey);
}

/** The setting that turns notifications on, and says why they stay off. */
function notificationChoice() {
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
