/** Adds icons to the controls of page.html. */

import { icon } from "./icons.js";

/** `data-icon` names the icon; a control without text shows its label on hover. @param {ParentNode} place */
export function decorate(place) {
  for (const control of /** @type {NodeListOf<HTMLElement>} */ (place.querySelectorAll("[data-icon]"))) {
    control.prepend(icon(/** @type {import("./icons.js").IconName} */ (control.dataset.icon)));
    if (!control.textContent?.trim()) control.title = control.getAttribute("aria-label") ?? "";
  }
}
