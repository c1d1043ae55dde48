/**
 * Keeps the end in sight while it grows, until the reader scrolls up; a button brings them back. It listens to sizes,
 * so whatever makes the conversation longer (words, a folded part, a phone's keyboard) is followed the same way.
 */

import { h } from "../elements/element.js";
import { t } from "../i18n.js";
import { icon } from "../elements/icons.js";

/** Scrolled down to within this, the reader follows again. */
const NEAR_PX = 32;

export class Following {
  /** @param {HTMLElement} scroller @param {HTMLElement} list what grows in it */
  constructor(scroller, list) {
    this.scroller = scroller;
    this.isOn = true;
    this.top = 0;
    this.height = 0;
    const label = t("Jump to the end");
    this.button = h(
      "button",
      { type: "button", class: "icon-button to-end", hidden: true, "aria-label": label, title: label, onclick: () => this.#jump() },
      icon("arrowDown"),
    );
    scroller.append(h("div", { class: "to-end-place" }, this.button));
    scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    const sizes = new ResizeObserver(() => this.#keep());
    sizes.observe(list);
    sizes.observe(scroller);
  }

  /** From now on, wherever the reader is. */
  start() {
    this.isOn = true;
    this.#keep();
  }

  /** The reader is led elsewhere. */
  stop() {
    this.isOn = false;
  }

  #jump() {
    this.start();
    this.scroller.focus({ preventScroll: true });
  }

  #keep() {
    if (this.isOn) this.scroller.scrollTop = this.scroller.scrollHeight;
    this.#showButton();
  }

  #scrolled() {
    const { scrollTop, scrollHeight } = this.scroller;
    // What got shorter moves the reader up without their doing.
    const wentUp = scrollTop < this.top - 1 && scrollHeight >= this.height;
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
