/** Gives the controls of page.html their icons. */

import { icon } from "./icons.js";

/** `data-icon` names the icon; where there is no text, the label shows on hover. @param {ParentNode} place */
export function decorate(place) {
  for (const control of /** @type {NodeListOf<HTMLElement>} */ (place.querySelectorAll("[data-icon]"))) {
    control.prepend(icon(/** @type {import("./icons.js").IconName} */ (control.dataset.icon)));
    if (!control.textContent?.trim()) control.title = control.getAttribute("aria-label") ?? "";
  }
}
