/** The card of the ring: what fills the context window, and what is summarised next. */

import { h } from "../elements/element.js";
import { whole } from "../elements/formats.js";
import { PopoverCard } from "../elements/popover_card.js";
import { t } from "../i18n.js";
import { compressionText, leftOutText, partsOf } from "./context_meter.js";

/** @import {MeasuredRun} from "../types.js" */
/** @import {ContextMeter} from "./context_meter.js" */

export class ContextCard {
  /** @param {HTMLButtonElement} button @param {ContextMeter["page"]} page */
  constructor(button, page) {
    this.page = page;
    this.card = new PopoverCard(button, t("Context"), "context-card");
    button.after(this.card.element);
  }

  /** @param {MeasuredRun[]} runs */
  toggle(runs) {
    return this.card.toggle(async () => {
      const content = document.createDocumentFragment();
      content.append(...runs.map((run) => this.#section(run)));
      return content;
    });
  }

  /** @param {MeasuredRun} run */
  #section({ model, context }) {
    const { used, window } = context;
    const parts = partsOf(context);
    return h(
      "section",
      {},
      h("h2", {}, model),
      h("span", { class: "hint" }, t("%(used)s of %(window)s tokens", { used: whole(used), window: whole(window) })),
      h("div", { class: "context-bar", "aria-hidden": "true" }, ...parts.map((each) => stretch(each, window))),
      h(
        "dl",
        {},
        ...parts.map(({ part, name, tokens }) =>
          h("div", { "data-part": part }, h("dt", {}, name), h("dd", {}, whole(tokens))),
        ),
      ),
      context.left_out_tools > 0 && h("p", { class: "hint" }, leftOutText(context.left_out_tools)),
      h("p", { class: "hint" }, compressionText(context)),
      this.#links(context.compression.keeps_from),
    );
  }

  /** @param {string|null} keepsFrom */
  #links(keepsFrom) {
    const { state } = this.page.live() ?? {};
    const mark = state?.summary ? document.querySelector("aside.summary") : null;
    const isShown = state?.branch?.some(({ id }) => id === keepsFrom);
    /** @param {string} label @param {() => void} show */
    const link = (label, show) => h("button", { type: "button", onclick: () => (this.card.close(), show()) }, label);
    return h(
      "div",
      { class: "links" },
      mark && link(t("Summarised up to here"), () => showMark(mark)),
      isShown && link(t("Next summary: up to here"), () => this.page.reveal(keepsFrom ?? "")),
    );
  }
}

/** @param {Element} mark */
function showMark(mark) {
  mark.scrollIntoView({ block: "center" });
  mark.querySelector("summary")?.focus();
}

/** @param {{part: string, tokens: number}} each @param {number} window */
function stretch({ part, tokens }, window) {
  const span = h("span", { "data-part": part });
  span.style.width = `${(tokens / window) * 100}%`;
  return span;
}
