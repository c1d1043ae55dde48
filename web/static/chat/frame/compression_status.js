/** The state of the open session's compression in the bar, and "compress now" in its menu. */

import * as api from "../server/api.js";
import { t } from "../i18n.js";
import { compressionText } from "../answer/status_texts.js";

/** @import {LiveSession} from "../server/live_session.js" */
/** @import {MenuItem} from "../elements/menu.js" */
/** @import {SessionState} from "../types.js" */

/** The messages of one turn: there is nothing older to summarise. */
const SHORTEST = 2;

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
