/**
 * The page of one knowledge base: what it is about, a search, its documents and its members, as far as the role allows.
 */

import { h } from "../elements/element.js";
import { icon } from "../elements/icons.js";
import { t, tn } from "../i18n.js";
import { answerButtons } from "./base_actions.js";
import { DocumentsView } from "./documents_view.js";
import {
  isOwned,
  isReadable,
  ASK_INDEXING_MS,
  countText,
  indexingText,
  roleNames,
  roleNote,
  rankText,
} from "./knowledge_store.js";
import { MembersView } from "./members_view.js";
import { apiErrorText } from "../answer/status_texts.js";
import { openFile } from "../files/files.js";
import { documentAt, searchBase } from "./knowledge_api.js";

/** @import {BaseActions} from "./base_actions.js" */
/** @import {KnowledgeStore} from "./knowledge_store.js" */
/** @import {KnowledgeBase, FoundPassage} from "../types.js" */

export class BaseView {
  /**
   * @param {KnowledgeStore} store
   * @param {BaseActions} actions
   * @param {object} page
   * @param {(text: string) => void} page.announce
   * @param {(action: () => Promise<any>) => Promise<boolean>} page.attempt
   * @param {(error: any) => void} page.failed
   */
  constructor(store, actions, page) {
    this.store = store;
    this.timer = 0;
    /** @type {KnowledgeBase|null} */
    this.base = null;
    this.invitation = new InvitationNote(actions);
    this.about = new AboutView(() => actions.edit(this.base));
    this.search = new SearchView();
    this.documents = new DocumentsView(page);
    this.members = new MembersView(page);
    this.element = h(
      "div",
      { class: "base", hidden: true },
      this.invitation.element,
      this.about.element,
      this.search.element,
      this.documents.element,
      this.members.element,
    );
  }

  /** @param {KnowledgeBase} base */
  show(base) {
    // A member who may read from now on has seen nothing of it before.
    const isOther = base.id !== this.base?.id || isReadable(base) !== isReadable(this.base);
    this.base = base;
    this.element.hidden = false;
    this.invitation.show(base);
    this.about.show(base);
    for (const part of [this.search, this.documents, this.members]) {
      part.element.hidden = !isReadable(base);
      if (isReadable(base)) part.show(base, isOther);
    }
    this.#askLater();
  }

  hide() {
    this.element.hidden = true;
    this.base = null;
    clearTimeout(this.timer);
  }

  /** @param {wire.Frame} frame */
  receive(frame) {
    this.documents.receive(frame);
    if (frame.type === "knowledge_base_changed" && frame.knowledge_base === this.base?.id) this.members.refresh();
  }

  #askLater() {
    clearTimeout(this.timer);
    const { documents, indexing } = this.base;
    if (!documents?.processing && !indexing?.waiting) return;
    this.timer = setTimeout(() => this.#ask(), ASK_INDEXING_MS);
  }

  async #ask() {
    await Promise.all([this.store.read(this.base.id), this.documents.refresh()]);
    // What was read may have led to another page.
    if (this.base) this.#askLater();
  }
}

/** What a base is about, and what is going on in it. */
class AboutView {
  /** @param {() => void} edit */
  constructor(edit) {
    this.role = h("p", { class: "hint" });
    this.protected = h(
      "p",
      { class: "protected" },
      icon("shield"),
      h(
        "span",
        {},
        t(
          "Its documents are protected. You can ask about them: answers are made from what they hold, but you see neither their titles nor their texts.",
        ),
      ),
    );
    this.facts = h("dl", { class: "facts" });
    this.progress = h("progress", { class: "file-progress base-progress", max: 1, "aria-label": t("Indexing") });
    this.status = h("p", { class: "hint", role: "status" });
    this.edit = h("button", { type: "button", class: "small", onclick: edit }, icon("edit"), t("Edit"));
    const head = h("div", { class: "line" }, h("h2", {}, t("About")), this.edit);
    this.element = h(
      "section",
      { class: "knowledge-part", "aria-label": t("About") },
      head,
      this.protected,
      this.facts,
      this.role,
      this.status,
      this.progress,
    );
  }

  /** @param {KnowledgeBase} base */
  show(base) {
    const { role, owner, summary, topics, routing_hint: hint, routing_keywords: keywords, indexing } = base;
    const about = isReadable(base) ? [fact(t("Summary"), summary), fact(t("Topics"), topics.join(", "))] : [];
    const forAll = [
      fact(t("Hint for restricted members"), hint),
      fact(t("Keywords for restricted members"), keywords.join(", ")),
    ];
    this.facts.replaceChildren(...about, ...forAll);
    this.facts.hidden = this.facts.childElementCount === 0 || !this.facts.textContent;
    this.edit.hidden = !isOwned(base);
    this.protected.hidden = isReadable(base);
    this.role.textContent = t("%(role)s: %(note)s. Owned by %(owner)s.", {
      role: roleNames()[role],
      note: roleNote(role),
      owner,
    });
    const indexed = indexingText(base);
    this.status.textContent = isReadable(base) ? indexed || countText(base) : "";
    this.progress.hidden = !indexed;
    if (indexed) this.progress.value = (indexing.chunks - indexing.waiting) / Math.max(1, indexing.chunks);
  }
}

/** @param {string} name @param {string} value */
const fact = (name, value) => h("div", { hidden: !value }, h("dt", {}, name), h("dd", {}, value));

/** What a user answers to a membership that somebody else made: to be a member, and as an owner, that the base may count. */
class InvitationNote {
  /** @param {BaseActions} actions */
  constructor(actions) {
    this.text = h("span");
    this.answers = answerButtons(actions, () => this.base);
    this.own = h(
      "button",
      { type: "button", class: "small", onclick: () => actions.acceptOwnership(this.base) },
      t("Accept ownership"),
    );
    this.element = h("div", { class: "invitation", hidden: true }, icon("user"), this.text, this.answers, this.own);
  }

  /** @param {KnowledgeBase} base */
  show(base) {
    this.base = base;
    this.answers.hidden = base.accepted;
    this.own.hidden = !base.accepted || !isOwned(base) || base.accepted_ownership;
    this.element.hidden = this.answers.hidden && this.own.hidden;
    this.text.textContent = base.accepted
      ? t(
          "You were made an owner. If you accept that, the knowledge base may count for your limits when the owner leaves whom it counts for.",
        )
      : t("You are invited. Once you accept, this knowledge base is offered in your chats.");
  }
}

const MOST = 10;

/** The search box of a knowledge base: its passages, as models find them. */
class SearchView {
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
