/** The keys of the page: one table, by which they are handled and shown. */

import { isComposing } from "../elements/text_field.js";
import { sideKeys, t } from "../i18n.js";
import { sendKey } from "../settings/preferences.js";
import { dialog, open } from "../elements/dialogs.js";
import { h } from "../elements/element.js";

/**
 * @typedef {object} Shortcut
 * @property {string[]} keys  named as in `KeyboardEvent.key`; Control is ⌘ on a Mac
 * @property {string} text  what they do
 * @property {"palette"|"search"|"newChat"|"sidebar"|"sheet"} [action]  given: works on the whole page, handled here
 */

const isMac = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? "");

/** All keys by place. Those without an action are handled where they work. @returns {{place: string, keys: Shortcut[]}[]} */
export function shortcuts() {
  const [send, breakLine] = sendKey() === "enter" ? [["Enter"], ["Shift", "Enter"]] : [["Control", "Enter"], ["Enter"]];
  return [
    {
      place: t("Everywhere"),
      keys: [
        { keys: ["Control", "K"], text: t("Find chats and actions"), action: "palette" },
        { keys: ["/"], text: t("Search the list of chats, outside of fields"), action: "search" },
        { keys: ["Control", "Shift", "O"], text: t("New chat"), action: "newChat" },
        { keys: ["Control", "Shift", "S"], text: t("Show or hide the list of chats"), action: "sidebar" },
        { keys: ["?"], text: t("Show the keyboard shortcuts, outside of fields"), action: "sheet" },
        { keys: ["Escape"], text: t("Close what is open: a dialog, a menu, the tree, the list of chats") },
      ],
    },
    {
      place: t("Message"),
      keys: [
        { keys: send, text: t("Send") },
        { keys: breakLine, text: t("Break the line") },
        { keys: ["Escape"], text: t("Stop the answer") },
        { keys: ["ArrowUp"], text: t("Edit the last message, in an empty field") },
        { keys: ["@"], text: t("Choose an agent, at the beginning") },
        { keys: ["/"], text: t("Insert a saved prompt, at the beginning") },
      ],
    },
    {
      place: t("List of chats"),
      keys: [
        { keys: ["ArrowDown"], text: t("From the search to the list, and to the next chat") },
        { keys: ["ArrowUp"], text: t("To the chat before") },
        { keys: ["Home"], text: t("To the first chat") },
        { keys: ["End"], text: t("To the last chat") },
        { keys: sideKeys().slice(1), text: t("Unfold a project") },
        { keys: sideKeys().slice(0, 1), text: t("Fold a project") },
        { keys: ["F2"], text: t("Rename") },
        { keys: ["Delete"], text: t("Delete") },
        { keys: [" "], text: t("Select") },
        { keys: ["Shift", "ArrowDown"], text: t("Select the next one too") },
        { keys: ["Shift", "ArrowUp"], text: t("Select the one before too") },
        { keys: ["Control", "A"], text: t("Select all that are loaded") },
      ],
    },
    {
      place: t("Menus and the tree of a chat"),
      keys: [
        { keys: ["ArrowDown"], text: t("To the next entry") },
        { keys: ["ArrowUp"], text: t("To the entry before") },
        { keys: ["Home"], text: t("To the first entry") },
        { keys: ["End"], text: t("To the last entry") },
      ],
    },
  ];
}

/** @returns {Shortcut[]} those that are handled here */
const everywhere = () => shortcuts().flatMap(({ keys }) => keys.filter(({ action }) => action));

/** The names on the keyboard. @param {string[]} keys @returns {string[]} */
function keyNames(keys) {
  const names = {
    Control: isMac ? "⌘" : t("Ctrl"),
    Shift: t("Shift"),
    Enter: t("Enter"),
    Escape: t("Esc"),
    Home: t("Home"),
    End: t("End"),
    Delete: t("Del"),
    " ": t("Space"),
    ArrowUp: "↑",
    ArrowDown: "↓",
    ArrowLeft: "←",
    ArrowRight: "→",
  };
  return keys.map((key) => names[/** @type {keyof typeof names} */ (key)] ?? key);
}

/**
 * Handles the keys that work on the whole page, and names them at their controls.
 * @param {{palette: HTMLElement, openPalette: () => void, search: HTMLInputElement, newChat: HTMLElement, sidebar: import("./sidebar.js").Sidebar}} page
 */
export function attachShortcuts({ palette, openPalette, search, newChat, sidebar }) {
  palette.addEventListener("click", openPalette);
  const actions = {
    palette: openPalette,
    search: () => (search.select(), search.focus()),
    newChat: () => newChat.click(),
    sidebar: () => sidebar.toggleByKey(),
    sheet: openSheet,
  };
  const { toggle, close } = sidebar.parts;
  const controls = {
    palette: [palette],
    search: [search],
    newChat: [newChat],
    sidebar: [toggle, close],
    sheet: /** @type {HTMLElement[]} */ ([]),
  };
  for (const { keys, action } of everywhere()) for (const control of controls[action]) name(control, keys);
  addEventListener("keydown", (event) => {
    const found = everywhere().find(({ keys }) => isPressed(event, keys));
    if (!found || isElsewhere(event) || (found.action === "search" && !search.checkVisibility())) return;
    event.preventDefault();
    actions[found.action]();
  });
}

/** @param {HTMLElement} control @param {string[]} keys */
function name(control, keys) {
  const ways = keys.includes("Control") ? ["Control", "Meta"] : [""];
  control.setAttribute(
    "aria-keyshortcuts",
    ways.map((way) => keys.map((key) => (key === "Control" ? way : key)).join("+")).join(" "),
  );
  const label = control.getAttribute("aria-label") ?? control.textContent.trim();
  control.title = `${label} (${keyNames(keys).join("+")})`;
}

/** @param {KeyboardEvent} event @param {string[]} keys */
function isPressed(event, keys) {
  const key = keys.at(-1);
  if (event.key?.toLowerCase() !== key.toLowerCase() || event.altKey) return false;
  if ((event.ctrlKey || event.metaKey) !== keys.includes("Control")) return false;
  // A sign such as "?" has Shift on some keyboards.
  return !/^[A-Z]$/.test(key) || event.shiftKey === keys.includes("Shift");
}

/** Whether the key belongs to something else: a dialog, an input method, or, if it is a character, a field or menu. @param {KeyboardEvent} event */
function isElsewhere(event) {
  if (event.defaultPrevented || isComposing(event) || document.querySelector("dialog:modal")) return true;
  if (event.ctrlKey || event.metaKey) return false;
  return Boolean(
    /** @type {Element} */ (event.target).closest?.("input, textarea, select, [contenteditable], [role=menu]"),
  );
}

/** Opens the dialog that lists the keys. */
export function openSheet() {
  const sections = shortcuts().map(({ place, keys }) =>
    h("section", {}, h("h3", {}, place), h("dl", {}, ...keys.map(row))),
  );
  open(dialog(t("Keyboard shortcuts"), { class: "shortcuts" }, ...sections));
}

/** @param {Shortcut} shortcut */
function row({ keys, text }) {
  const names = keyNames(keys).flatMap((name, i) => [i > 0 && "+", h("kbd", {}, name)]);
  return h("div", {}, h("dt", {}, text), h("dd", {}, ...names));
}
