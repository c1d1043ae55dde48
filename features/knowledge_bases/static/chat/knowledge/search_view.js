/** The search box of a knowledge base: its passages, as models find them. */

import { apiErrorText } from "../answer/status_texts.js";
import { h } from "../elements/element.js";
import { openFile } from "../files/open_file.js";
import { t, tn } from "../i18n.js";
import { documentAt, searchBase } from "./knowledge_api.js";
import { rankText } from "./knowledge_texts.js";

/** @import {FoundPassage, KnowledgeBase} from "../types.js" */

const MOST = 10;

export class SearchView {
  constructor() {
    /** @type {KnowledgeBase|null} */
    this.base = null;
    /** Of searches: an older one may end later. */
    this.count = 0;
    this.field = h("input", {
      type: "search",
      "aria-label": t("Search this knowledge base"),
      placeholder: t("Search as models do"),
      autocomplete: "off",
      maxLength: 1000,
    });
    this.status = h("p", { class: "hint", role: "status" });
    this.hits = h("ol", { class: "hits", hidden: true, "aria-label": t("Passages that were found") });
    const form = h(
      "form",
      { class: "asking", role: "search", onsubmit: (/** @type {Event} */ event) => this.#submit(event) },
      this.field,
      h("button", { type: "submit" }, t("Search")),
    );
    this.element = h(
      "section",
      { class: "knowledge-part", "aria-label": t("Search") },
      h("h2", {}, t("Search")),
      form,
      this.status,
      this.hits,
    );
    this.field.addEventListener("input", () => this.field.value === "" && this.#clear());
  }

  /** @param {KnowledgeBase} base @param {boolean} isOther */
  show(base, isOther) {
    this.base = base;
    if (!isOther) return;
    this.field.value = "";
    this.#clear();
  }

  #clear() {
    this.count += 1;
    this.status.textContent = "";
    this.hits.hidden = true;
  }

  /** @param {Event} event */
  async #submit(event) {
    event.preventDefault();
    const query = this.field.value.trim();
    if (!query) return this.#clear();
    const count = (this.count += 1);
    this.status.textContent = t("Searching…");
    try {
      const found = await searchBase(this.base.id, query, MOST);
      if (count === this.count) this.#show(found);
    } catch (error) {
      if (count === this.count) this.status.textContent = apiErrorText(error);
    }
  }

  /** @param {FoundPassage[]} found */
  #show(found) {
    this.hits.replaceChildren(...found.map((passage) => this.#hit(passage)));
    this.hits.hidden = found.length === 0;
    this.status.textContent =
      found.length > 0
        ? tn("%(count)s passage found, the best first", "%(count)s passages found, the best first", found.length)
        : t("Nothing was found.");
  }

  /** @param {FoundPassage} passage */
  #hit(passage) {
    const { document_id: id, title, text, start } = passage;
    const open = () => openFile({ id, name: title, at: documentAt(this.base.id, id), passage: { text, start } });
    const head = h(
      "span",
      { class: "hit-head" },
      h("strong", {}, title),
      h("small", { class: "hint" }, rankText(passage)),
    );
    return h(
      "li",
      {},
      h("button", { type: "button", class: "hit", onclick: open }, head, h("span", { class: "hit-text" }, text)),
    );
  }
}
