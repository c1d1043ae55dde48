/**
 * The list of chats beside the conversation: a drawer over it on phones, a collapsible column on wide
 * screens. The browser remembers whether the column is collapsed.
 */

import { isComposing } from "../elements/text_field.js";

const KEPT_AS = "turnwire.sidebar";
/** As in page.css. */
const WIDE = "(min-width: 52rem)";

export class Sidebar {
  /** @param {{sidebar: HTMLElement, toggle: HTMLElement, close: HTMLElement, backdrop: HTMLElement, main: HTMLElement}} parts */
  constructor(parts) {
    this.parts = parts;
    this.wide = matchMedia(WIDE);
    this.isDrawn = false;
    this.isFolded = localStorage.getItem(KEPT_AS) === "folded";
    parts.toggle.addEventListener("click", () => this.#toggle());
    parts.close.addEventListener("click", () => this.#toggle());
    parts.backdrop.addEventListener("click", () => this.closeDrawer());
    parts.sidebar.addEventListener(
      "keydown",
      (event) => event.key === "Escape" && !isComposing(event) && this.closeDrawer(),
    );
    this.wide.addEventListener("change", () => this.closeDrawer());
    this.#show();
  }

  get isOpen() {
    return this.wide.matches ? !this.isFolded : this.isDrawn;
  }

  /** Closes the drawer after a choice in it; a column stays open. */
  closeDrawer() {
    if (!this.isDrawn) return;
    this.isDrawn = false;
    this.#show();
    this.parts.toggle.focus();
  }

  #toggle() {
    this.#flip();
    this.#focus();
  }

  /** Leaves the focus where it is, unless that place is hidden now. */
  toggleByKey() {
    const from = document.activeElement;
    this.#flip();
    if (!from || from === document.body || from.closest("[inert]")) this.#focus();
  }

  #focus() {
    (this.isOpen ? this.parts.close : this.parts.toggle).focus();
  }

  #flip() {
    if (this.wide.matches) {
      this.isFolded = !this.isFolded;
      localStorage.setItem(KEPT_AS, this.isFolded ? "folded" : "open");
    } else {
      this.isDrawn = !this.isDrawn;
    }
    this.#show();
  }

  #show() {
    const { sidebar, toggle, main } = this.parts;
    document.body.classList.toggle("with-sidebar", this.isOpen);
    document.body.classList.toggle("with-drawer", this.isDrawn);
    toggle.setAttribute("aria-expanded", String(this.isOpen));
    sidebar.inert = !this.isOpen;
    main.inert = this.isDrawn;
  }
}
