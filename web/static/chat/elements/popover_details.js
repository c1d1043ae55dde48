/** Closes a <details> that opens over the page on Escape, on a click elsewhere, and when the focus leaves it. */

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
  details.addEventListener("toggle", () => details.open && opened());
}
