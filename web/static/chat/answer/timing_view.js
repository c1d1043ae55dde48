/** The button that shows the timing and usage of an answer. The card is loaded when it is first opened. */

import { assign, h } from "../elements/element.js";
import { t } from "../i18n.js";
import { icon } from "../elements/icons.js";

/** @import {TimingCard} from "./timing_card.js" */

export class TimingView {
  /** @param {(run: string) => Promise<import("./usage.js").RunUsage>} readRun */
  constructor(readRun) {
    this.readRun = readRun;
    this.run = "";
    this.toolsMs = 0;
    const label = t("Usage and timing");
    this.button = h(
      "button",
      {
        type: "button",
        class: "icon-button",
        "aria-label": label,
        title: label,
        "aria-expanded": "false",
        onclick: () => this.#toggle(),
      },
      icon("info"),
    );
    this.element = h("span", { class: "timing" }, this.button);
    /** @type {TimingCard|undefined} */
    this.card = undefined;
  }

  /** @param {string} run empty: nothing is known yet @param {number} toolsMs of its time, spent in tools */
  show(run, toolsMs) {
    [this.run, this.toolsMs] = [run, toolsMs];
    assign(this.button, { hidden: !run });
  }

  async #toggle() {
    const module = await import("./timing_card.js").catch(() => /** @type {any} */ (null));
    if (!module) return; // offline; the button can be pressed again
    this.card ??= new module.TimingCard(this);
    await this.card.toggle();
  }
}
