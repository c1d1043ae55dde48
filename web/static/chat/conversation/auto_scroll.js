/**
 * Keeps the end visible while the content grows, until the user scrolls up; a button returns to the end. It observes
 * sizes, so that text, expanded parts and a phone's keyboard are all handled alike.
 */

import { h } from "../elements/element.js";
import { t } from "../i18n.js";
import { icon } from "../elements/icons.js";

/** Scrolling to within this distance of the end resumes auto-scrolling. */
const NEAR_PX = 32;

export class AutoScroll {
  /** @param {HTMLElement} scroller @param {HTMLElement} list what grows in it */
  constructor(scroller, list) {
    this.scroller = scroller;
    this.isOn = true;
    this.top = 0;
    this.height = 0;
    const label = t("Jump to the end");
    this.button = h(
      "button",
      {
        type: "button",
        class: "icon-button to-end",
        hidden: true,
        "aria-label": label,
        title: label,
        onclick: () => this.#jump(),
      },
      icon("arrowDown"),
    );
    scroller.append(h("div", { class: "to-end-place" }, this.button));
    scroller.addEventListener("scroll", () => this.#onScroll(), { passive: true });
    // What the user opens is read from its beginning: following the end would move it off the screen.
    list.addEventListener("click", (event) => isOpening(event) && this.stop());
    const sizes = new ResizeObserver(() => this.#followEnd());
    sizes.observe(list);
    sizes.observe(scroller);
  }

  /** Scrolls to the end and keeps it visible. */
  start() {
    this.isOn = true;
    this.#followEnd();
  }

  /** Stops auto-scrolling. */
  stop() {
    this.isOn = false;
  }

  #jump() {
    this.start();
    this.scroller.focus({ preventScroll: true });
  }

  #followEnd() {
    if (this.isOn) this.scroller.scrollTop = this.scroller.scrollHeight;
    this.#showButton();
  }

  #onScroll() {
    const { scrollTop, scrollHeight } = this.scroller;
    // The browser lowers the scroll position, too: when the content shrinks, and to the end when the scroller grows, because
    // the composer was emptied or a phone's keyboard closed. That is not scrolling by the user.
    const wentUp = scrollTop < this.top - 1 && scrollHeight >= this.height && this.#toEnd() > 1;
    if (wentUp) this.isOn = false;
    else if (this.#toEnd() < NEAR_PX) this.isOn = true;
    [this.top, this.height] = [scrollTop, scrollHeight];
    this.#showButton();
  }

  #showButton() {
    this.button.hidden = this.isOn || this.#toEnd() < NEAR_PX;
  }

  #toEnd() {
    return this.scroller.scrollHeight - this.scroller.scrollTop - this.scroller.clientHeight;
  }
}

/** Whether this opens a fold. @param {Event} event */
function isOpening({ target }) {
  const element = /** @type {Element} */ (target);
  if (element.closest(".question-bubble > [aria-expanded=false]")) return true;
  const summary = element.closest("summary");
  return summary !== null && !(/** @type {HTMLDetailsElement} */ (summary.parentElement).open);
}
