/** What scrolling the conversation does: at its end, and at its beginning. */

import { h } from "../elements/element.js";
import { t } from "../i18n.js";
import { iconButton } from "../elements/icons.js";

/** Scrolling to within this distance of the end resumes auto-scrolling. */
const NEAR_PX = 32;

/**
 * Keeps the end visible while the content grows, until the user scrolls up; a button returns to the end. It observes
 * sizes, so that text, expanded parts and a phone's keyboard are all handled alike.
 */
export class AutoScroll {
  /** @param {HTMLElement} scroller @param {HTMLElement} list what grows in it */
  constructor(scroller, list) {
    this.scroller = scroller;
    this.isOn = true;
    this.top = 0;
    this.height = 0;
    this.button = iconButton(t("Jump to the end"), "arrowDown", () => this.#jump(), {
      class: "icon-button to-end",
      hidden: true,
    });
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

/** The distance above the visible part at which the next page is loaded. */
const AHEAD = "1500px";
const RETRY_MS = 2_000;

/** Loads older messages before the user scrolls to the first one. */
export class OlderMessages {
  /** @param {HTMLElement} scroller @param {() => Promise<boolean>|undefined} ask resolves to false: try again later */
  constructor(scroller, ask) {
    this.scroller = scroller;
    this.ask = ask;
    const onPaper = h(
      "span",
      { class: "on-paper" },
      t(
        "Earlier messages of this chat are missing here: only what was read on the page is printed. Scroll to its beginning to print all of it.",
      ),
    );
    this.element = h(
      "p",
      { class: "older" },
      h("span", { class: "on-screen" }, t("Earlier messages are being read…")),
      onPaper,
    );
    this.observer = new IntersectionObserver(
      (entries) => entries.some(({ isIntersecting }) => isIntersecting) && this.#ask(),
      { root: scroller, rootMargin: `${AHEAD} 0px` },
    );
    /** @type {string|null} */
    this.first = null;
  }

  /**
   * What stands at the top changes: call before, and `done` after.
   * @param {string|undefined} first the first message now
   */
  begin(first) {
    if (first === this.first) return;
    // At the very top, browsers keep the top in place instead of the visible content.
    if (this.scroller.scrollTop === 0) this.scroller.scrollTop = 1;
    this.mark = /** @type {HTMLElement|null} */ (this.element.nextElementSibling);
    this.offset = this.mark?.offsetTop;
  }

  /** @param {string|undefined} first @param {boolean} hasOlder */
  done(first, hasOlder) {
    if (first === this.first) return;
    this.first = first ?? null;
    const isMoved = this.mark?.isConnected && !CSS.supports("overflow-anchor", "auto");
    if (isMoved) this.scroller.scrollTop += this.mark.offsetTop - this.offset;
    this.observer.disconnect();
    if (hasOlder) this.observer.observe(this.element);
  }

  async #ask() {
    const { first } = this;
    if ((await this.ask()) !== false) return;
    setTimeout(() => first === this.first && this.#observeAgain(), RETRY_MS);
  }

  /** Its distance is reported again. */
  #observeAgain() {
    this.observer.unobserve(this.element);
    this.observer.observe(this.element);
  }
}
