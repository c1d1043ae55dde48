/** Another version of a message comes to stand where the one before stood, with the focus, although all below it changes. */

/** @typedef {{id: string, top: number, isFocused: boolean}} Kept */

export class KeptPlace {
  /** @param {HTMLElement} scroller */
  constructor(scroller) {
    this.scroller = scroller;
    /** @type {Kept|null} */
    this.kept = null;
  }

  /** @param {string} id of the message that comes @param {HTMLElement} element of the one that goes */
  keep(id, element) {
    this.kept = { id, top: topOf(element), isFocused: element.contains(document.activeElement) };
  }

  forget() {
    this.kept = null;
  }

  /** To be called after each drawing. @param {HTMLElement|undefined} element of the message that comes @param {boolean} isComplete nothing will be added above it */
  restore(element, isComplete) {
    if (!this.kept || !element?.isConnected) return;
    const { top, isFocused } = this.kept;
    this.scroller.scrollTop += topOf(element) - top;
    if (isFocused && !element.contains(document.activeElement))
      /** @type {HTMLElement|null} */ (element.querySelector(".siblings button:enabled"))?.focus({
        preventScroll: true,
      });
    if (isComplete) this.kept = null;
  }
}

/** @param {HTMLElement} element */
const topOf = (element) => element.getBoundingClientRect().top;
