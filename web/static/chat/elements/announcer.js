/** Says to users of screen readers what happens elsewhere on the page. */

/** What was said is not found by reading on later. */
const CLEARED_MS = 10_000;

/** @param {HTMLElement} element a live region @returns {(text: string) => void} */
export function announcer(element) {
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  let timer;
  return (text) => {
    clearTimeout(timer);
    // The same text again would be no change, which is not read.
    element.textContent = element.textContent === text ? `${text}\u00a0` : text;
    timer = setTimeout(() => (element.textContent = ""), CLEARED_MS);
  };
}
