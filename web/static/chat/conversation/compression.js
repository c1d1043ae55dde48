/** The compression of the open chat. */

import { h } from "../elements/element.js";
import { language, t } from "../i18n.js";
import { icon } from "../elements/icons.js";
import { MarkdownView } from "../markdown/markdown.js";
import * as api from "../server/api.js";
import { compressionText } from "../answer/status_texts.js";

/** @import {Summary, SessionState} from "../types.js" */
/** @import {LiveSession} from "../server/live_session.js" */
/** @import {MenuItem} from "../elements/menu.js" */

/** The collapsed summary above the first message that is sent verbatim. */
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

/** The messages of one turn: there is nothing older to summarise. */
const SHORTEST = 2;

/** The state of the open session's compression in the bar, and "compress now" in its menu. */
export class CompressionStatus {
  /**
   * @param {HTMLElement} element a live region
   * @param {object} page
   * @param {() => LiveSession|null} page.live
   * @param {(action: () => Promise<any>) => Promise<boolean>} page.attempt
   * @param {(error: {message: string}) => void} page.failed
   */
  constructor(element, page) {
    this.element = element;
    this.page = page;
  }

  /** @param {SessionState|null} state */
  show(state) {
    const text = isLong(state) ? compressionText(state.compressing) : "";
    if (this.element.textContent !== text) this.element.textContent = text;
  }

  /** @returns {MenuItem} of the open session */
  item() {
    const { state } = this.page.live();
    return {
      label: t("Compress now"),
      icon: "collapse",
      hint: t("Summarises the older messages for the model"),
      disabled: !isLong(state) || state.compressing === "under_way",
      action: () => this.#compress(),
    };
  }

  deleteSummary() {
    const live = this.page.live();
    return this.page.attempt(async () => {
      await api.deleteSummary(live.state.session);
      await live.readSummary();
    });
  }

  async rewriteSummary() {
    if (await this.deleteSummary()) await this.#compress();
  }

  #compress() {
    const live = this.page.live();
    return this.page.attempt(async () => {
      const { status } = await api.compress(live.state.session);
      if (status === "queued") await live.readSummary();
      else this.page.failed({ message: t("There is nothing older to summarise yet.") });
    });
  }
}

/** @param {SessionState|null} state */
const isLong = (state) => (state?.branch?.length ?? 0) > SHORTEST;
