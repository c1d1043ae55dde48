/**
 * Several rows of the session list, picked to be archived or deleted at once: by the row's menu, or by keys. Space picks,
 * Shift with arrows picks more, Ctrl+A all that are loaded; Delete deletes them, Escape ends it.
 */

import { h } from "../elements/element.js";
import { iconButton } from "../elements/icons.js";
import { t, tn } from "../i18n.js";

/** @import {SessionList} from "./session_list.js" */
/** @typedef {"archive"|"delete"} BulkAction */

/** The most that the server changes at once. */
const MOST = 100;

export class SessionSelection {
  /** @param {SessionList} list @param {(ids: string[], action: BulkAction) => unknown} change */
  constructor(list, change) {
    this.list = list;
    this.change = change;
    this.isOn = false;
    /** @type {Set<string>} */
    this.ids = new Set();
    /** The row that was picked last: where Shift picks from. @type {string|null} */
    this.anchor = null;
    this.status = h("span", { role: "status" });
    this.buttons = [
      iconButton(t("Archive"), "archive", () => this.#act("archive")),
      iconButton(t("Delete"), "trash", () => this.#act("delete")),
    ];
    const done = iconButton(t("Stop selecting"), "close", () => this.stop());
    this.toolbar = h(
      "div",
      { class: "selection", role: "group", "aria-label": t("Selected chats"), hidden: true },
      this.status,
      ...this.buttons,
      done,
    );
    list.list.before(this.toolbar);
    list.list.addEventListener("keydown", (event) => this.#key(event), true);
    list.list.addEventListener("click", (event) => this.#click(event), true);
    list.list.addEventListener("dblclick", (event) => this.isOn && event.stopPropagation(), true);
  }

  /** @param {string} id the first to be picked */
  start(id) {
    this.isOn = true;
    this.ids = new Set([id]);
    this.anchor = id;
    this.list.redraw();
  }

  /** The focus stays in the list. */
  stop() {
    const hadFocus = this.toolbar.contains(document.activeElement);
    this.isOn = false;
    this.ids.clear();
    this.list.redraw();
    if (hadFocus) this.list.focus();
  }

  /** Called with each drawing. @param {string[]} shown ids; what is not shown is not picked */
  show(shown) {
    const known = new Set(shown);
    for (const id of this.ids) if (!known.has(id)) this.ids.delete(id);
    if (this.isOn && shown.length === 0) this.isOn = false;
    this.toolbar.hidden = !this.isOn;
    const { size } = this.ids;
    const text =
      size === MOST
        ? t("%(count)s chats selected, the most at once", { count: size })
        : tn("%(count)s chat selected", "%(count)s chats selected", size);
    if (this.status.textContent !== text) this.status.textContent = this.isOn ? text : "";
    for (const button of this.buttons) button.disabled = size === 0;
  }

  /** @param {string} id @returns {boolean|null} null: nothing is being picked */
  isPicked(id) {
    return this.isOn ? this.ids.has(id) : null;
  }

  /** @param {string} id */
  toggle(id) {
    if (!this.isOn) return this.start(id);
    if (!this.ids.delete(id)) this.#pick([id]);
    this.anchor = id;
    this.list.redraw();
  }

  /** Picks all from the one that was picked last. @param {string} id */
  extendTo(id) {
    const order = this.list.order;
    const [from, to] = [order.indexOf(this.anchor ?? id), order.indexOf(id)].sort((one, other) => one - other);
    this.isOn = true;
    this.#pick(order.slice(Math.max(0, from), to + 1));
    this.list.redraw();
  }

  /** @param {string[]} ids */
  #pick(ids) {
    for (const id of ids) if (this.ids.size < MOST) this.ids.add(id);
  }

  /** @param {MouseEvent} event */
  #click(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    const id = target.closest("li")?.dataset.id;
    if (!this.isOn || !id || target.closest("button")) return;
    if (event.shiftKey) this.extendTo(id);
    else this.toggle(id);
    event.stopPropagation();
    // A link would open the chat. A checkbox whose click is prevented would go back to what it was.
    if (target !== this.list.rows.get(id)?.box) event.preventDefault();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const row = /** @type {HTMLElement} */ (event.target).closest("li");
    if (!row || !(/** @type {HTMLElement} */ (event.target).matches("a, [type=checkbox]")) || !this.#acts(event, row))
      return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {KeyboardEvent} event @param {HTMLElement} row @returns {boolean} whether the key was handled */
  #acts(event, row) {
    const id = row.dataset.id ?? "";
    if (event.key === " ") this.toggle(id);
    else if (event.shiftKey && (event.key === "ArrowDown" || event.key === "ArrowUp"))
      this.#extendBy(id, event.key === "ArrowDown" ? 1 : -1);
    else if (event.key.toLowerCase() === "a" && (event.ctrlKey || event.metaKey)) this.#pickAll(id);
    else if (!this.isOn) return false;
    else if (event.key === "Escape") this.stop();
    else if (event.key === "Delete") this.#act("delete");
    else return false;
    return true;
  }

  /** @param {string} id @param {1|-1} step */
  #extendBy(id, step) {
    if (!this.isOn) this.start(id);
    const next = this.list.order[this.list.order.indexOf(id) + step];
    if (!next) return;
    this.extendTo(next);
    this.list.focusRow(next);
  }

  /** @param {string} id */
  #pickAll(id) {
    if (!this.isOn) this.start(id);
    this.#pick(this.list.order);
    this.list.redraw();
  }

  /** @param {BulkAction} action */
  #act(action) {
    if (this.ids.size > 0) this.change([...this.ids], action);
  }
}
