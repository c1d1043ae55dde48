/** The view of a table: what is in it, which may grow, and buttons that copy it. */

import { copyButton } from "../elements/copy_button.js";
import { h } from "../elements/element.js";
import { patchNodes } from "../elements/patch.js";
import { t } from "../i18n.js";
import { csvOf, tabbedOf } from "./table_text.js";

/** @import {EmbeddedNodes} from "../elements/patch.js" */

export class TableView {
  /** @param {Element} fresh the frame of a table, from the sanitiser; its children are taken @param {EmbeddedNodes} views of what is in cells */
  constructor(fresh, views) {
    this.views = views;
    this.frame = /** @type {Element} */ (fresh.cloneNode(false));
    this.frame.append(...fresh.childNodes);
    const buttons = [
      copyButton(t("Copy table"), () => tabbedOf(this.#rows())),
      copyButton(t("Copy as CSV"), () => csvOf(this.#rows()), "table"),
    ];
    this.element = h("div", { class: "table-block" }, this.frame, h("div", { class: "buttons" }, ...buttons));
  }

  /** @param {Element} fresh */
  tryUpdate(fresh) {
    if (!fresh.matches(".table")) return false;
    patchNodes({ parent: this.element, nodes: [this.frame], before: null }, [fresh], this.views);
    return true;
  }

  #rows() {
    return [...this.frame.querySelectorAll("tr")].map((row) => [...row.cells].map((cell) => cell.innerText.trim()));
  }
}
