/** Loads older messages before the user scrolls to the first one. */

import { h } from "../elements/element.js";
import { t } from "../i18n.js";

/** The distance above the visible part at which the next page is loaded. */
const AHEAD = "1500px";
const RETRY_MS = 2_000;

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
