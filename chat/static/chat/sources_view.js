/** The documents an answer cites, by their numbers. */

import { h } from "./element.js";

/** @import {Source} from "./types.js" */

const WEB = /^https?:\/\//i;

export class SourcesView {
  constructor() {
    this.list = h("ol");
    this.element = h("section", { class: "sources", hidden: true, "aria-label": "Sources" }, h("h2", {}, "Sources"), this.list);
  }

  /** @param {Source[]} sources */
  show(sources) {
    if (sources === this.sources) return;
    this.sources = sources;
    this.element.hidden = sources.length === 0;
    this.list.replaceChildren(...sources.map((source) => h("li", { value: source.number }, sourceLink(source))));
  }
}

/** Addresses come from the web: only such as lead there become links. @param {Source} source */
export function sourceLink({ title, url, document_id }) {
  const text = title || url || document_id;
  if (!url || !WEB.test(url)) return h("span", {}, text);
  return h("a", { href: url, target: "_blank", rel: "noopener noreferrer nofollow" }, text);
}
