/** A card with the timing and usage of an answer, read when it is opened. */

import { h } from "../elements/element.js";
import { t } from "../i18n.js";
import { icon } from "../elements/icons.js";
import { apiErrorText } from "./status_texts.js";

const GAP_PX = 6;

export class TimingView {
  /** @param {(run: string) => Promise<import("./usage.js").RunUsage>} readRun */
  constructor(readRun) {
    this.readRun = readRun;
    this.run = "";
    this.toolsMs = 0;
    this.wasOpen = false;
    const label = t("Usage and timing");
    this.button = h("button", { type: "button", class: "icon-button", "aria-label": label, title: label, "aria-expanded": "false", onclick: () => this.#toggle() }, icon("info"));
    this.element = h("span", { class: "timing" }, this.button);
    /** @type {HTMLElement|undefined} created when it is first opened */
    this.card = undefined;
  }

  /** @param {string} run empty: nothing is known yet @param {number} toolsMs of its time, spent in tools */
  show(run, toolsMs) {
    [this.run, this.toolsMs] = [run, toolsMs];
    this.button.hidden = !run;
  }

  async #toggle() {
    this.card ??= this.#createCard();
    // A click on the button has closed it already: it is a light-dismissed popover.
    if (this.wasOpen) return;
    this.card.replaceChildren(h("p", { class: "hint" }, t("Reading…")));
    this.card.showPopover();
    this.#place(this.card);
    this.card.replaceChildren(await this.#content());
    this.#place(this.card);
  }

  #createCard() {
    const card = h("div", { class: "timing-card", popover: "auto", role: "region", "aria-label": t("Usage and timing") });
    card.addEventListener("toggle", (event) => this.button.setAttribute("aria-expanded", String(event.newState === "open")));
    this.button.addEventListener("pointerdown", () => (this.wasOpen = card.matches(":popover-open")));
    this.button.addEventListener("keydown", () => (this.wasOpen = false));
    this.element.append(card);
    return card;
  }

  async #content() {
    try {
      const [run, { rowsOf }] = await Promise.all([this.readRun(this.run), import("./usage.js")]);
      const rows = rowsOf(run, this.toolsMs);
      return h("dl", {}, ...rows.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
    } catch (error) {
      return h("p", {}, apiErrorText(error));
    }
  }

  /** Above the button, below it where there is no room. @param {HTMLElement} card */
  #place(card) {
    const from = this.button.getBoundingClientRect();
    const { width, height } = card.getBoundingClientRect();
    const above = from.top - height - GAP_PX;
    card.style.left = `${Math.max(GAP_PX, Math.min(from.left, innerWidth - width - GAP_PX))}px`;
    card.style.top = `${above > GAP_PX ? above : Math.min(from.bottom + GAP_PX, innerHeight - height - GAP_PX)}px`;
  }
}
