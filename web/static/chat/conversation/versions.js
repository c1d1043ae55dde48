/** The versions of a message: one at a time, or side by side. */

import { assign, h, setChildren } from "../elements/element.js";
import { t } from "../i18n.js";
import { iconButton } from "../elements/icons.js";

/** `‹ 2/3 ›`: switches between the siblings of a message. */
export class SiblingSwitch {
  /** @param {(id: string) => void} select */
  constructor(select) {
    this.select = select;
    this.before = this.#button("chevronLeft", t("Previous version"), -1);
    this.place = h("span", { class: "place" });
    this.after = this.#button("chevronRight", t("Next version"), 1);
    this.element = h(
      "span",
      { class: "siblings", role: "group", "aria-label": t("Versions") },
      this.before,
      this.place,
      this.after,
    );
    /** @type {string[]} */
    this.ids = [];
    this.at = 0;
  }

  /** @param {import("../types.js").Message} message @param {string[]} [versions] ids, oldest first */
  show(message, versions = message.siblings ?? [message.id]) {
    this.ids = versions;
    this.at = Math.max(0, this.ids.indexOf(message.id));
    assign(this.element, { hidden: this.ids.length < 2 });
    assign(this.place, { textContent: `${this.at + 1}/${this.ids.length}` });
    assign(this.before, { disabled: this.at === 0 });
    assign(this.after, { disabled: this.at === this.ids.length - 1 });
  }

  /** @param {import("../elements/icons.js").IconName} name @param {string} label @param {number} step */
  #button(name, label, step) {
    return iconButton(label, name, () => this.#go(step));
  }

  /** @param {number} step */
  #go(step) {
    const id = this.ids[this.at + step];
    if (id) this.select(id);
  }
}

/** @typedef {{element: HTMLElement, model: string, isCurrent: boolean}} Column */

/**
 * Shows the answers of several models side by side; on narrow screens one at a time, the current one first, to swipe or
 * pick by name.
 */
export class ColumnsView {
  constructor() {
    this.tabs = h("div", { class: "column-tabs", role: "group", "aria-label": t("Answers") });
    this.columns = h("div", { class: "columns" });
    this.element = h("div", { class: "side-by-side" }, this.tabs, this.columns);
    this.names = "";
    this.columns.addEventListener("scroll", () => this.#mark(), { passive: true });
  }

  /** @param {Column[]} columns in the order in which the models were picked */
  show(columns) {
    setChildren(
      this.columns,
      columns.map(({ element }) => element),
    );
    const names = JSON.stringify(columns.map(({ model, isCurrent }) => [model, isCurrent]));
    if (names === this.names) return;
    const isFirst = this.names === "";
    this.names = names;
    this.tabs.replaceChildren(...columns.map((column, i) => this.#tab(column, i)));
    this.#mark();
    // By the next frame the columns are on the page.
    if (isFirst)
      requestAnimationFrame(() => this.#goTo(columns.find(({ isCurrent }) => isCurrent)?.element, "instant"));
  }

  /** @param {Column} column @param {number} i its place, where another answer of the model may stand later */
  #tab({ model, isCurrent }, i) {
    const go = () => this.#goTo(/** @type {HTMLElement} */ (this.columns.children[i]), "smooth");
    return h("button", { type: "button", class: isCurrent ? "small current" : "small", onclick: go }, model);
  }

  /** @param {HTMLElement|undefined} element @param {ScrollBehavior} behavior */
  #goTo(element, behavior) {
    if (element)
      this.columns.scrollTo({
        left: element.offsetLeft - /** @type {HTMLElement} */ (this.columns.firstElementChild).offsetLeft,
        behavior,
      });
  }

  /** The visible column. */
  #mark() {
    const { scrollLeft, clientWidth, scrollWidth } = this.columns;
    const share = scrollWidth > clientWidth ? Math.abs(scrollLeft) / (scrollWidth - clientWidth) : 0;
    const at = Math.round(share * (this.tabs.children.length - 1));
    [...this.tabs.children].forEach((tab, i) => tab.setAttribute("aria-pressed", String(i === at)));
  }
}
