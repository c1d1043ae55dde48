/** Where the verbatim part of a long chat begins: what stands for everything above, folded. */

import { h } from "./element.js";
import { MarkdownView } from "./markdown.js";

/** @import {Summary} from "./types.js" */

export class SummaryView {
  constructor() {
    this.saved = h("span", { class: "hint" });
    this.body = h("div", { class: "markdown" });
    this.fold = h("details", {}, h("summary", {}, "The messages above are summarised for the model", this.saved), this.body);
    this.element = h("aside", { class: "summary", "aria-label": "Summary of the messages above" }, this.fold);
    this.text = new MarkdownView(this.body);
  }

  /** @param {Summary} summary */
  show(summary) {
    if (this.shown === summary) return;
    this.shown = summary;
    const saved = summary.saved_tokens;
    this.saved.textContent = saved === null ? "" : ` · ${saved.toLocaleString("en")} tokens saved`;
    this.text.show(summary.text);
  }
}
