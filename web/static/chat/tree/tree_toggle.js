/** The bar's button for the tree panel, which is loaded with the first click. */

/** @import {TreePanel} from "./tree_panel.js" */

export class TreeToggle {
  /**
   * @param {HTMLButtonElement} button
   * @param {Omit<ConstructorParameters<typeof TreePanel>[0], "toggled">} page see TreePanel
   */
  constructor(button, page) {
    this.button = button;
    this.page = page;
    /** @type {TreePanel|null} */
    this.panel = null;
    button.addEventListener("click", () => this.#toggle());
  }

  /** The open session, or something in it, may have changed. */
  follow() {
    this.button.hidden = !this.page.live();
    this.panel?.follow();
  }

  async #toggle() {
    if (this.panel?.isOpen) return this.panel.close();
    try {
      const { TreePanel } = await import("./tree_panel.js");
      this.panel ??= new TreePanel({ ...this.page, toggled: (isOpen) => this.#onToggled(isOpen) });
      this.panel.open();
    } catch (error) {
      this.page.failed(error);
    }
  }

  /** @param {boolean} isOpen */
  #onToggled(isOpen) {
    this.button.setAttribute("aria-expanded", String(isOpen));
    if (!isOpen) this.button.focus();
  }
}
