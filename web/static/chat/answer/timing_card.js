/** A card with the timing and usage of an answer, read when it is opened. */

import { h } from "../elements/element.js";
import { t } from "../i18n.js";
import { apiErrorText } from "./status_texts.js";
import { rowsOf } from "./usage.js";

const GAP_PX = 6;

export class TimingCard {
  /** @param {import("./timing_view.js").TimingView} view */
  constructor(view) {
    this.view = view;
    this.wasOpen = false;
    this.card = h("div", { class: "timing-card", popover: "auto", role: "region", "aria-label": t("Usage and timing") });
    this.card.addEventListener("toggle", (event) => view.button.setAttribute("aria-expanded", String(event.newState === "open")));
    view.button.addEventListener("pointerdown", () => (this.wasOpen = this.card.matches(":popover-open")));
    view.button.addEventListener("keydown", () => (this.wasOpen = false));
    view.element.append(this.card);
  }

  async toggle() {
    // A click on the button has closed it already: it is a light-dismissed popover.
    if (this.wasOpen) return;
    this.card.replaceChildren(h("p", { class: "hint" }, t("Reading…")));
    this.card.showPopover();
    this.#place();
    this.card.replaceChildren(await this.#content());
    this.#place();
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

  /** Above the button, below it where there is no room. */
  #place() {
    const from = this.view.button.getBoundingClientRect();
    const { width, height } = this.card.getBoundingClientRect();
    const above = from.top - height - GAP_PX;
    this.card.style.left = `${Math.max(GAP_PX, Math.min(from.left, innerWidth - width - GAP_PX))}px`;
    this.card.style.top = `${above > GAP_PX ? above : Math.min(from.bottom + GAP_PX, innerHeight - height - GAP_PX)}px`;
  }
}
