/** The collapsed summary above the first message that is sent verbatim. */

import { h } from "../elements/element.js";
import { language, t } from "../i18n.js";
import { icon } from "../elements/icons.js";
import { MarkdownView } from "../markdown/markdown.js";

/** @import {Summary} from "../types.js" */

export class SummaryView {
  constructor() {
    /** @type {Summary|undefined} */
    this.shown = undefined;
    this.saved = h("span", { class: "hint" });
    this.body = h("div", { class: "markdown" });
    const line = h("span", { class: "line" }, t("The messages above are summarised for the model"), this.saved);
    this.fold = h("details", {}, h("summary", {}, icon("summary"), line, icon("chevronDown")), this.body);
    this.element = h("aside", { class: "summary", "aria-label": t("Summary of the messages above") }, this.fold);
    this.text = new MarkdownView(this.body);
  }

  /** @param {Summary} summary */
  show(summary) {
    if (this.shown === summary) return;
    this.shown = summary;
    const saved = summary.saved_tokens;
    this.saved.textContent = saved === null ? "" : ` · ${t("%(count)s tokens saved", { count: saved.toLocaleString(language) })}`;
    this.text.show(summary.text);
  }
}
