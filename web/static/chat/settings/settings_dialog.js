/**
 * The settings dialog: theme, language, the key that sends, notifications, what holds in all chats, API tokens, limits,
 * usage.
 */

import * as api from "../server/api.js";
import {
  notifyOtherTabs,
  onPreferences,
  readPreferences,
  savePreferences,
  sendKey,
  setNotifications,
  setSendKey,
  setTheme,
  sharePreferences,
  theme,
} from "./preferences.js";
import { radioGroup, boxes, checked, group, text } from "../elements/forms.js";
import { dialog, open } from "../elements/dialogs.js";
import { h, setChildren } from "../elements/element.js";
import { icon } from "../elements/icons.js";
import { language, t } from "../i18n.js";
import { TokensView } from "./tokens_view.js";
import { LimitsTable, usageTable } from "../usage/usage_tables.js";
import { areOn, askPermission } from "../frame/notifications.js";
import { MOST } from "../composer/model_picker.js";
import { tokenText } from "../files/file_entry.js";

/** @import {SendKey, Theme} from "./preferences.js" */
/** @import {Model, Preferences} from "../types.js" */

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

/** @returns {{value: Theme, label: string, icon: SVGElement}[]} */
export const themes = () => [
  { value: "system", label: t("System"), icon: icon("settings") },
  { value: "light", label: t("Light"), icon: icon("sun") },
  { value: "dark", label: t("Dark"), icon: icon("moon") },
];

const appearance = () => radioGroup(t("Theme"), themes(), theme(), setTheme);

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
  /** @type {{value: SendKey, label: string}[]} */
  const keys = [
    { value: "enter", label: t("Enter") },
    { value: "ctrl-enter", label: /Mac|iP/.test(navigator.platform) ? t("⌘ Enter") : t("Ctrl+Enter") },
  ];
  return radioGroup(t("Send with"), keys, sendKey(), setSendKey);
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

/** The setting of the models with which new chats begin. Each tick is stored at once. */
class DefaultModels {
  /** @param {(error: any) => void} failed */
  constructor(failed) {
    this.failed = failed;
    /** @type {Model[]} */
    this.models = [];
    /** @type {HTMLInputElement[]} */
    this.boxes = [];
    this.hint = h("p", { class: "hint", role: "status" });
    this.element = h("div", { hidden: true });
    /** One after the other, so that what was ticked last is stored last. */
    this.saving = Promise.resolve();
    onPreferences(this.element, (preferences) => this.show(preferences));
  }

  /** @param {Model[]} models @param {Preferences} preferences */
  offer(models, preferences) {
    const names = new Map(models.map(({ name }) => [name, name]));
    this.models = models;
    this.boxes = boxes(names, []);
    for (const box of this.boxes) box.addEventListener("change", () => this.#save());
    setChildren(this.element, [group(t("Models of new chats"), this.boxes, names), this.hint]);
    this.element.hidden = models.length === 0;
    this.show(preferences);
  }

  /** @param {Preferences} preferences as stored */
  show({ models }) {
    for (const box of this.boxes) box.checked = models.includes(box.value);
    this.#limit();
    this.hint.textContent = this.#explain(models);
  }

  /** @param {string[]} chosen */
  #explain(chosen) {
    const gone = chosen.filter((name) => !this.models.some((model) => model.name === name));
    const standard = this.models.find((model) => model.is_default)?.name ?? "";
    if (chosen.length === 0) return t("Tick none to begin with those that were picked last.");
    const lost = gone.length > 0 && t("No longer offered: %(names)s", { names: gone.join(", ") });
    const instead = gone.length === chosen.length && standard && t("%(name)s answers instead.", { name: standard });
    if (lost) return [lost, instead].filter(Boolean).join(". ");
    return t("They answer unless the agent has models of its own, or others are picked in the chat.");
  }

  #save() {
    this.#limit();
    this.saving = this.saving
      .then(() => savePreferences({ models: checked(this.boxes) }))
      .then(sharePreferences)
      .catch(this.failed);
  }

  #limit() {
    const isFull = checked(this.boxes).length >= MOST;
    for (const box of this.boxes) box.disabled = isFull && !box.checked;
  }
}

const LONGEST = 4000;

/** What was written and not saved: it outlasts the dialog, which a click beside it closes. @type {string|null} */
let unsaved = null;

/**
 * The setting of the user's instructions for all chats: a text, which is saved by a button, and a box that switches it
 * off.
 */
class OwnInstructions {
  /** @param {(error: any) => void} failed */
  constructor(failed) {
    this.failed = failed;
    /** @type {Preferences|null} null: not read yet */
    this.stored = null;
    this.field = text(t("Instructions for all chats"), {
      rows: 4,
      maxLength: LONGEST,
      readOnly: true, // until it shows what is stored, which would be replaced unseen
      dir: "auto",
      placeholder: t("What models should call you, how long and in which tone they answer, which units they use"),
      oninput: () => this.#onEdit(),
    });
    this.isUsed = h("input", {
      type: "checkbox",
      disabled: true,
      onchange: () => this.#save({ uses_instructions: this.isUsed.checked }),
    });
    const box = h("label", { class: "box" }, this.isUsed, h("span", {}, t("Send them to the models")));
    const cancel = h("button", { type: "button", onclick: () => this.#discard() }, t("Cancel"));
    this.row = h(
      "div",
      { class: "row", hidden: true },
      cancel,
      h("button", { type: "submit", class: "primary" }, t("Save")),
    );
    this.element = h(
      "form",
      { onsubmit: (/** @type {Event} */ event) => this.#submit(event) },
      this.field.element,
      box,
      this.row,
    );
    this.#explain(0);
    onPreferences(this.element, (preferences) => this.show(preferences));
  }

  /** @param {Preferences} preferences as stored */
  show(preferences) {
    this.stored = preferences;
    this.field.control.removeAttribute("readonly");
    this.isUsed.disabled = false;
    this.isUsed.checked = preferences.uses_instructions;
    // While it is edited the field is right.
    const shown = unsaved ?? preferences.instructions;
    if (this.field.control.value !== shown) this.field.control.value = shown;
    this.#explain(preferences.instruction_tokens);
    this.#showState();
  }

  /** @param {number} tokens */
  #explain(tokens) {
    this.field.explain(
      [t("Every model reads them before the prompts of agent, project and chat"), tokens && tokenText(tokens)]
        .filter(Boolean)
        .join(" · "),
    );
  }

  #onEdit() {
    const { value } = this.field.control;
    unsaved = value === this.stored?.instructions ? null : value;
    this.#showState();
  }

  /** @param {Event} event */
  async #submit(event) {
    event.preventDefault();
    if (unsaved === null) return;
    const sent = unsaved;
    await this.#save({ instructions: sent }, () => {
      if (unsaved === sent) unsaved = null;
    });
  }

  #discard() {
    unsaved = null;
    if (this.stored) this.show(this.stored);
  }

  /** @param {Partial<Preferences>} changes @param {() => void} [saved] */
  async #save(changes, saved) {
    try {
      const preferences = await savePreferences(changes);
      saved?.();
      sharePreferences(preferences);
    } catch (error) {
      this.failed(error);
    }
  }

  #showState() {
    const isChanged = unsaved !== null;
    const hadFocus = this.row.contains(document.activeElement);
    this.row.hidden = !isChanged;
    // Other tabs' changes of settings wait for it (preferences.js).
    this.element.toggleAttribute("data-unsaved", isChanged);
    if (hadFocus && !isChanged) this.field.control.focus();
  }
}
