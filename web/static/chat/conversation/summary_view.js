/** The collapsed summary above the first message that is sent verbatim. */

import { h } from "../elements/element.js";
import { language, t } from "../i18n.js";
import { icon } from "../elements/icons.js";
import { MarkdownView } from "../markdown/markdown.js";

/** @import {Summary} from "../types.js" */

export class SummaryView {
  /** @param {{deleteSummary: () => void, rewriteSummary: () => void}} actions */
  constructor(actions) {
    /** @type {Summary|undefined} */
    this.shown = undefined;
    this.heading = h("span", {});
    this.saved = h("span", { class: "hint" });
    this.body = h("div", { class: "markdown" });
    const line = h("span", { class: "line" }, this.heading, this.saved);
    const rewrite = h(
      "button",
      { type: "button", class: "small", onclick: actions.rewriteSummary },
      t("Write it again"),
    );
    const remove = h("button", { type: "button", class: "small", onclick: actions.deleteSummary }, t("Delete"));
    const buttons = h(
      "p",
      { class: "summary-actions" },
      rewrite,
      remove,
      h("span", { class: "hint" }, t("Without it, the model reads the messages themselves, as far as they fit.")),
    );
    this.fold = h("details", {}, h("summary", {}, icon("summary"), line, icon("chevronDown")), this.body, buttons);
    this.element = h("aside", { class: "summary", "aria-label": t("Summary of the messages above") }, this.fold);
    this.text = new MarkdownView(this.body);
  }

  /** @param {Summary} summary @param {string[]} models  those that answered last; empty where unknown */
  show(summary, models) {
    // A model with a larger window than the one it was written for still reads every message.
    const others = models.some((model) => model && summary.model !== null && model !== summary.model);
    this.heading.textContent = others
      ? t("The messages above are summarised for %(model)s", { model: summary.model ?? "" })
      : t("The messages above are summarised for the model");
    if (this.shown === summary) return;
    this.shown = summary;
    const saved = summary.saved_tokens;
    this.saved.textContent =
      saved === null ? "" : ` · ${t("%(count)s tokens saved", { count: saved.toLocaleString(language) })}`;
    this.text.show(summary.text);
  }
}
