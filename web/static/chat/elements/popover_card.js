/** A card that a button opens beside itself. What it shows is read when it is opened. */

import { h } from "./element.js";
import { isMirrored, t } from "../i18n.js";

const GAP_PX = 6;

export class PopoverCard {
  /** @param {HTMLElement} button  said to be expanded while the card is open @param {string} label @param {string} [kind] a class of the card */
  constructor(button, label, kind = "") {
    this.button = button;
    this.wasOpen = false;
    this.element = h("div", {
      class: `popover-card ${kind}`.trim(),
      popover: "auto",
      role: "region",
      "aria-label": label,
    });
    this.element.addEventListener("toggle", (event) =>
      button.setAttribute("aria-expanded", String(event.newState === "open")),
    );
    for (const pressed of ["pointerdown", "keydown"])
      button.addEventListener(pressed, () => (this.wasOpen = this.element.matches(":popover-open")));
  }

  close() {
    this.element.hidePopover();
  }

  /** @param {() => Promise<Node>} read what it shows */
  async toggle(read) {
    // A click on the button has closed it already: it is a light-dismissed popover. Keys have not.
    if (this.wasOpen) return this.close();
    this.element.replaceChildren(h("p", { class: "hint" }, t("Reading…")));
    this.element.showPopover();
    this.#place();
    this.element.replaceChildren(await read());
    this.#place();
  }

  /** Above the button, below it where there is no room. */
  #place() {
    const from = this.button.getBoundingClientRect();
    const { width, height } = this.element.getBoundingClientRect();
    const above = from.top - height - GAP_PX;
    this.element.style.left = `${Math.max(GAP_PX, Math.min(isMirrored() ? from.right - width : from.left, innerWidth - width - GAP_PX))}px`;
    this.element.style.top = `${above > GAP_PX ? above : Math.min(from.bottom + GAP_PX, innerHeight - height - GAP_PX)}px`;
  }
}
