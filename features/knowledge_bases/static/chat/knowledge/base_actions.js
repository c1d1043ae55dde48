/** What can be done with knowledge bases: create, edit, delete, leave, answer invitations. */

import { apiErrorText } from "../answer/status_texts.js";
import { ask } from "../elements/dialogs.js";
import { h } from "../elements/element.js";
import { t, tn } from "../i18n.js";
import { acceptBase, changeBase, createBase, deleteBase, removeMember } from "./knowledge_api.js";
import { unlessGone } from "../server/api.js";
import { askFor, line, nonEmptyLines, text } from "../elements/forms.js";
import { isOwned } from "./knowledge_store.js";

/** @import {MenuItem} from "../elements/menu.js" */
/** @import {KnowledgeBase} from "../types.js" */

export class BaseActions {
  /**
   * @param {import("./knowledge_store.js").KnowledgeStore} store
   * @param {object} page
   * @param {(base: string) => void} page.open
   * @param {(action: () => Promise<any>) => Promise<boolean>} page.attempt
   */
  constructor(store, page) {
    this.store = store;
    this.page = page;
  }

  /** @param {KnowledgeBase} base @returns {MenuItem[]} */
  items(base) {
    const leave = {
      label: t("Leave"),
      icon: /** @type {const} */ ("logout"),
      isDangerous: true,
      action: () => this.leave(base),
    };
    if (!isOwned(base)) return [leave];
    return [
      { label: t("Edit"), icon: "edit", action: () => this.edit(base) },
      leave,
      { label: t("Delete"), icon: "trash", isDangerous: true, action: () => this.remove(base) },
    ];
  }

  async create() {
    const fields = { name: line(t("Name"), { maxLength: 200, required: true }) };
    const made = await askFor(t("New knowledge base"), {
      yes: t("Create"),
      fields,
      save: ({ name }) => createBase(name),
    });
    if (!made) return;
    this.store.put(made);
    this.page.open(made.id);
  }

  /** @param {KnowledgeBase} base */
  accept(base) {
    return this.#accept(base, false);
  }

  /** @param {KnowledgeBase} base */
  acceptOwnership(base) {
    return this.#accept(base, true);
  }

  /** @param {KnowledgeBase} base @param {boolean} ownership */
  async #accept({ id }, ownership) {
    const isDone = await this.page.attempt(async () => this.store.put(await acceptBase(id, ownership)));
    // No event tells of an invitation that was taken back.
    if (!isDone) void this.store.refresh();
  }

  /** @param {KnowledgeBase} base */
  async decline({ id, member }) {
    if (await this.page.attempt(() => removeMember(id, member).catch(unlessGone))) this.store.remove(id);
  }

  /** @param {KnowledgeBase} base */
  edit(base) {
    return this.page.attempt(async () => {
      const changed = await editBase(base);
      if (changed) this.store.put(changed);
    });
  }

  /** @param {KnowledgeBase} base */
  async remove({ id, name, documents }) {
    const all = documents ? documents.processing + documents.ready + documents.failed : 0;
    const what = h(
      "p",
      {},
      tn(
        "“%(name)s” and its %(count)s document are deleted for good, for all of its members.",
        "“%(name)s” and its %(count)s documents are deleted for good, for all of its members.",
        all,
        { name },
      ),
    );
    if (!(await ask(t("Delete this knowledge base?"), { yes: t("Delete") }, what))) return;
    if (await this.page.attempt(() => deleteBase(id).catch(unlessGone))) this.store.remove(id);
  }

  /** @param {KnowledgeBase} base */
  async leave({ id, name, member }) {
    const what = h("p", {}, t("You can no longer use “%(name)s”, until an owner adds you again.", { name }));
    if (!(await ask(t("Leave this knowledge base?"), { yes: t("Leave") }, what))) return;
    if (await this.page.attempt(() => removeMember(id, member).catch(unlessGone))) this.store.remove(id);
  }
}

/** @param {BaseActions} actions @param {() => KnowledgeBase} base */
export function answerButtons(actions, base) {
  const accept = h(
    "button",
    { type: "button", class: "small primary", onclick: () => actions.accept(base()) },
    t("Accept"),
  );
  const decline = h("button", { type: "button", class: "small", onclick: () => actions.decline(base()) }, t("Decline"));
  return h("span", { class: "answers" }, accept, decline);
}

/** Asks what a knowledge base is about. @param {KnowledgeBase} base @returns {Promise<KnowledgeBase|null>} null: cancelled */
function editBase(base) {
  const perLine = t("One in each line.");
  const fields = {
    name: line(t("Name"), { maxLength: 200, required: true, value: base.name }),
    summary: text(
      t("Summary"),
      { rows: 4, value: base.summary },
      t("What the documents are about. Models of readers are told it."),
    ),
    topics: text(t("Topics"), { rows: 3, value: base.topics.join("\n") }, perLine),
    routing_hint: text(
      t("Hint for restricted members"),
      { rows: 2, maxLength: 200, value: base.routing_hint },
      t("All that restricted members and their models know before they search: no digits, quotations or headings."),
    ),
    routing_keywords: text(
      t("Keywords for restricted members"),
      { rows: 2, value: base.routing_keywords.join("\n") },
      `${t("At most five.")} ${perLine}`,
    ),
  };
  return askFor(t("Edit this knowledge base"), {
    yes: t("Save"),
    fields,
    look: "large form",
    words: hintProblem,
    save: ({ name, summary, topics, routing_hint, routing_keywords }) =>
      changeBase(base.id, {
        name,
        summary,
        topics: nonEmptyLines(topics),
        routing_hint: routing_hint.replace(/\s+/g, " "),
        routing_keywords: nonEmptyLines(routing_keywords),
      }),
  });
}

/** The server says of refused hints only that the value is invalid. @param {any} error */
function hintProblem(error) {
  const isHint = (error.field ?? "").startsWith("routing_") && error.code === "invalid_value";
  if (!isHint) return apiErrorText(error);
  return error.field === "routing_hint"
    ? t("A hint holds at most 200 characters, and no digits, quotation marks or headings.")
    : t("At most five keywords of 48 characters, without digits, quotation marks or headings.");
}
