/** The list of the documents that an answer cites, by number. */

import { documentCard } from "./document_card.js";
import { h, setChildren } from "../elements/element.js";
import { t, tn } from "../i18n.js";

/** @import {Source} from "../types.js" */

export class SourcesView {
  constructor() {
    /** @type {Source[]|undefined} */
    this.sources = undefined;
    this.list = h("ol", { class: "document-cards" });
    this.heading = h("h2");
    this.element = h(
      "section",
      { class: "sources", hidden: true, "aria-label": t("Sources") },
      this.heading,
      this.list,
    );
    /** @type {Map<string, HTMLElement>} by what they show, so that those that stay keep focus */
    this.cards = new Map();
  }

  /** @param {Source[]} sources with what is known of each */
  show(sources) {
    if (sources === this.sources) return;
    this.sources = sources;
    this.element.hidden = sources.length === 0;
    this.heading.textContent = tn("%(count)s source", "%(count)s sources", sources.length);
    const cards = new Map(sources.map((source) => [JSON.stringify(source), source]));
    this.cards = new Map(
      [...cards].map(([key, source]) => [key, this.cards.get(key) ?? h("li", {}, documentCard(source))]),
    );
    setChildren(this.list, [...this.cards.values()]);
  }
}
