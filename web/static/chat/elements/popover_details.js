/** Closes a <details> that opens over the page on Escape, on a click elsewhere, and when the focus leaves it, and keeps its card in the window. */

const GAP_PX = 8;

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
  details.addEventListener("toggle", () => {
    if (!details.open) return;
    keepInside(/** @type {HTMLElement} */ (summary.nextElementSibling));
    opened();
  });
}

/** @param {HTMLElement} card as wide as its content, from its summary on */
function keepInside(card) {
  card.style.translate = "";
  const { left, right } = card.getBoundingClientRect();
  // Not innerWidth, which grows on phones with what sticks out.
  const toTheLeft = Math.min(0, document.documentElement.clientWidth - GAP_PX - right);
  if (toTheLeft < 0) card.style.translate = `${Math.max(GAP_PX - left, toTheLeft)}px`;
}
