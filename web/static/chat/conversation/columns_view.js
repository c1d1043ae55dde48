/** Shows the answers of several models side by side; on narrow screens one at a time, the current one first, to swipe or pick by name. */

import { h, setChildren } from "../elements/element.js";
import { t } from "../i18n.js";

/** @typedef {{element: HTMLElement, model: string, isCurrent: boolean}} Column */

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
    this.tabs.replaceChildren(...columns.map((column) => this.#tab(column)));
    this.#mark();
    // By the next frame the columns are on the page.
    if (isFirst)
      requestAnimationFrame(() => this.#goTo(columns.find(({ isCurrent }) => isCurrent)?.element, "instant"));
  }

  /** @param {Column} column */
  #tab({ element, model, isCurrent }) {
    return h(
      "button",
      { type: "button", class: isCurrent ? "small current" : "small", onclick: () => this.#goTo(element, "smooth") },
      model,
    );
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
