/** A card with the timing and usage of an answer, read when it is opened. */

import { h } from "../elements/element.js";
import { t } from "../i18n.js";
import { PopoverCard } from "../elements/popover_card.js";
import { apiErrorText } from "./status_texts.js";
import { rowsOf } from "./usage.js";

export class TimingCard {
  /** @param {import("./timing_view.js").TimingView} view */
  constructor(view) {
    this.view = view;
    this.card = new PopoverCard(view.button, t("Usage and timing"));
    view.element.append(this.card.element);
  }

  toggle() {
    return this.card.toggle(() => this.#content());
  }

  async #content() {
    try {
      const run = await this.view.readRun(this.view.run);
      const rows = rowsOf(run, this.view.toolsMs);
      return h("dl", {}, ...rows.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
    } catch (error) {
      return h("p", {}, apiErrorText(error));
    }
  }
}
