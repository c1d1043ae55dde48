/** What opens over the page: menus, and <details> that close as menus do. */

import { h } from "./element.js";
import { icon, iconButton } from "./icons.js";
import { isMirrored } from "../i18n.js";

/**
 * @typedef {object} MenuItem
 * @property {string} label
 * @property {import("./icons.js").IconName} [icon]
 * @property {() => void} action  called after the menu has closed and focus is back on the button
 * @property {boolean} [checked]  given: the item is a choice; true: the chosen one
 * @property {boolean} [isDangerous]
 * @property {boolean} [disabled]
 * @property {string} [hint]  a second, quieter line
 * @property {boolean} [isFirst]  of a group: a line stands above it
 * @property {string} [terms]  words that the palette finds it by, beside its label
 */

const GAP_PX = 4;

/**
 * Makes `button` open a menu. `items` is called each time the menu opens.
 * @param {HTMLButtonElement} button
 * @param {() => MenuItem[]} items
 */
export function attachMenu(button, items) {
  menuSources.set(button, items);
  button.setAttribute("aria-haspopup", "menu");
  button.setAttribute("aria-expanded", "false");
  let wasOpen = false;
  button.addEventListener("pointerdown", () => (wasOpen = isOpen(button)));
  button.addEventListener("click", ({ detail }) => {
    if (isOpen(button)) close(button);
    // The pointer has closed it already: it is a light-dismissed popover. Clicks by the keyboard have no number.
    else if (!detail || !wasOpen) openMenu(button, items());
  });
  button.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    if (!isOpen(button)) openMenu(button, items());
    if (event.key === "ArrowUp") entriesOf(menuOf(button)).at(-1)?.focus();
  });
}

/** A button with ⋯ that opens a menu. @param {string} label @param {() => MenuItem[]} items */
export function menuButton(label, items) {
  const button = iconButton(label, "more");
  attachMenu(button, items);
  return button;
}

/** @type {WeakMap<HTMLElement, () => MenuItem[]>} */
const menuSources = new WeakMap();

/** What the menu of a button would show now. @param {HTMLElement} button */
export const menuItems = (button) =>
  menuSources
    .get(button)?.()
    .filter(({ disabled }) => !disabled) ?? [];

/** @type {WeakMap<HTMLElement, HTMLElement>} the open menu of a button */
const menus = new WeakMap();

/** @param {HTMLElement} button */
const menuOf = (button) => menus.get(button);

/** @param {HTMLElement} button */
const isOpen = (button) => Boolean(menuOf(button)?.matches(":popover-open"));

/** @param {HTMLElement} button */
const close = (button) => menuOf(button)?.hidePopover();

/**
 * Opens a menu below (or above) `anchor`. It is removed when it closes.
 * @param {HTMLElement} anchor receives the focus when the menu closes
 * @param {MenuItem[]} items
 */
export function openMenu(anchor, items) {
  const menu = h("div", { class: "menu", role: "menu", popover: "auto", "aria-label": nameOf(anchor) });
  menu.append(
    ...items.flatMap((item, i) => [
      ...(item.isFirst && i > 0 ? [h("hr", {})] : []),
      entry(item, () => menu.hidePopover()),
    ]),
  );
  menu.addEventListener("keydown", (event) => onKey(event, menu));
  menu.addEventListener("toggle", (event) => event.newState === "closed" && removeMenu(anchor, menu));
  // Inside an open dialog, because everything outside it is inert; else inside the landmark of the button.
  (anchor.closest("dialog[open], main, aside") ?? document.body).append(menu);
  menus.set(anchor, menu);
  menu.showPopover();
  anchor.setAttribute("aria-expanded", "true");
  place(menu, anchor);
  entriesOf(menu)[0]?.focus();
}

/** @param {HTMLElement} anchor @param {HTMLElement} menu */
function removeMenu(anchor, menu) {
  const hadFocus = menu.contains(document.activeElement) || document.activeElement === document.body;
  menu.remove();
  // Another one may have been opened meanwhile.
  if (menuOf(anchor) !== menu) return;
  anchor.setAttribute("aria-expanded", "false");
  if (hadFocus) anchor.focus();
}

/** @param {MenuItem} item @param {() => void} close */
function entry(item, close) {
  const isChoice = item.checked !== undefined;
  const mark = isChoice ? item.checked && icon("check") : item.icon && icon(item.icon);
  const chosen = () => {
    close();
    // Closing restores the focus in a separate task; the action may move it afterwards.
    setTimeout(item.action);
  };
  const text = h("span", { class: "label" }, item.label, item.hint && h("small", {}, item.hint));
  const properties = {
    type: "button",
    class: item.isDangerous ? "danger" : "",
    role: isChoice ? "menuitemradio" : "menuitem",
    tabIndex: -1,
    disabled: item.disabled ?? false,
    onclick: chosen,
    ...(isChoice ? { "aria-checked": String(item.checked) } : {}),
  };
  return h("button", properties, h("span", { class: "mark" }, mark || null), text);
}

/** @param {KeyboardEvent} event @param {HTMLElement} menu */
function onKey(event, menu) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const entries = entriesOf(menu);
  const next = target(event.key, entries, entries.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement)));
  if (event.key === "Tab") menu.hidePopover();
  if (!next) return;
  event.preventDefault();
  event.stopPropagation();
  next.focus();
}

/** @param {string} key @param {HTMLButtonElement[]} entries @param {number} at */
function target(key, entries, at) {
  const count = entries.length;
  if (key === "ArrowDown") return entries[(at + 1) % count];
  if (key === "ArrowUp") return entries[(at - 1 + count) % count];
  if (key === "Home") return entries[0];
  if (key === "End") return entries[count - 1];
  if (key.length !== 1 || key === " ") return null;
  const rest = [...entries.slice(at + 1), ...entries.slice(0, at + 1)];
  return rest.find(({ textContent }) => textContent?.toLowerCase().startsWith(key.toLowerCase()));
}

/** @param {HTMLElement} menu @returns {HTMLButtonElement[]} those that can be chosen */
const entriesOf = (menu) => [...menu.querySelectorAll("button")].filter((button) => !button.disabled);

/** @param {HTMLElement} element */
const nameOf = (element) => element.getAttribute("aria-label") ?? element.textContent ?? "";

/** Places the menu below the anchor, or above it if there is more room, and inside the window. @param {HTMLElement} menu @param {HTMLElement} anchor */
export function place(menu, anchor) {
  const from = anchor.getBoundingClientRect();
  const { width, height } = menu.getBoundingClientRect();
  const isAbove = from.bottom + GAP_PX + height > innerHeight && from.top > innerHeight - from.bottom;
  const isRight = isMirrored() ? from.right - width >= GAP_PX : from.left + width > innerWidth - GAP_PX;
  const left = isRight ? from.right - width : from.left;
  menu.style.left = `${Math.max(GAP_PX, Math.min(left, innerWidth - width - GAP_PX))}px`;
  menu.style.top = `${Math.max(GAP_PX, isAbove ? from.top - height - GAP_PX : from.bottom + GAP_PX)}px`;
}

const EDGE_PX = 8;

/** @param {HTMLDetailsElement} details @param {() => void} [opened] */
export function closeOnLeave(details, opened = () => {}) {
  const summary = details.querySelector("summary");
  document.addEventListener("click", (event) => {
    if (!details.contains(/** @type {Node} */ (event.target))) details.open = false;
  });
  details.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !details.open) return;
    event.stopPropagation(); // it would stop the answer, or close the drawer
    details.open = false;
    summary.focus();
  });
  details.addEventListener("focusout", (event) => {
    const to = /** @type {Node|null} */ (event.relatedTarget);
    if (to && !details.contains(to)) details.open = false;
  });
  details.addEventListener("toggle", () => {
    if (!details.open) return;
    keepInside(/** @type {HTMLElement} */ (summary.nextElementSibling));
    opened();
  });
}

/** @param {HTMLElement} card as wide as its content, from its summary on */
function keepInside(card) {
  card.style.translate = "";
  const { left, right } = card.getBoundingClientRect();
  // Not innerWidth, which grows on phones with what sticks out.
  const toTheLeft = Math.min(0, document.documentElement.clientWidth - EDGE_PX - right);
  if (toTheLeft < 0) card.style.translate = `${Math.max(EDGE_PX - left, toTheLeft)}px`;
}
