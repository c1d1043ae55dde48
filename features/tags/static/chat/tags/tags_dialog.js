/** The dialog of a chat's tags: those of all chats to choose from, and a field for a new one. Every change is saved at once. */

import { apiErrorText } from "../answer/status_texts.js";
import { ask, dialog, open } from "../elements/dialogs.js";
import { askFor, line } from "../elements/forms.js";
import { h } from "../elements/element.js";
import { icon } from "../elements/icons.js";
import { menuButton } from "../elements/menu.js";
import { t } from "../i18n.js";
import { changeSession } from "../server/api.js";
import { deleteTag, readTags, renameTag } from "./tags.js";
import { hasTag, isSameTag, replaceTag } from "../sessions/session_store.js";

/** @import {Session} from "../types.js" */

const LONGEST = 40;

/** @param {Session} session @param {{failed: (error: any) => void, closed: () => void}} page */
export async function openTags(session, page) {
  await new TagsDialog(session, page).read();
}

class TagsDialog {
  /** @param {Session} session @param {{failed: (error: any) => void, closed: () => void}} page */
  constructor(session, page) {
    this.session = session;
    this.page = page;
    /** As stored. */
    this.chosen = session.tags ?? [];
    /** What is saved goes on from what was saved before. @type {Promise<any>} */
    this.latest = Promise.resolve();
    /** @type {string[]} */
    this.all = [];
    this.field = h("input", {
      type: "text",
      maxLength: LONGEST,
      autocomplete: "off",
      placeholder: t("New tag"),
      "aria-label": t("New tag"),
    });
    this.problem = h("p", { class: "field-problem", role: "alert", hidden: true });
    this.list = h("ul", { class: "tag-choice" });
    this.none = h("p", { class: "hint", hidden: true }, t("No chat has a tag yet."));
    const add = h(
      "form",
      { class: "tag-entry", onsubmit: (/** @type {Event} */ event) => (event.preventDefault(), this.#add()) },
      this.field,
      h("button", { class: "primary" }, t("Add")),
    );
    this.dialog = dialog(
      t("Tags of this chat"),
      { class: "question", closed: page.closed },
      add,
      this.problem,
      this.none,
      this.list,
    );
    open(this.dialog);
    this.field.focus();
  }

  async read() {
    try {
      this.all = (await readTags()).map(({ name }) => name);
      this.#draw();
    } catch (error) {
      this.dialog.close();
      this.page.failed(error);
    }
  }

  #draw() {
    const names = [...this.all, ...this.chosen.filter((tag) => !hasTag(this.all, tag))];
    const focused = document.activeElement?.closest(".tag-choice li")?.textContent;
    this.none.hidden = names.length > 0;
    const rows = names.map((name) => this.#row(name));
    this.list.replaceChildren(...rows);
    if (focused)
      rows
        .find((row) => row.textContent === focused)
        ?.querySelector("input")
        .focus();
  }

  /** @param {string} name */
  #row(name) {
    const box = h("input", {
      type: "checkbox",
      checked: hasTag(this.chosen, name),
      onchange: () => this.#toggle(name, box.checked),
    });
    const items = () => [
      { label: t("Rename"), icon: /** @type {const} */ ("edit"), action: () => this.#rename(name) },
      { label: t("Delete"), icon: /** @type {const} */ ("trash"), isDangerous: true, action: () => this.#remove(name) },
    ];
    return h(
      "li",
      {},
      h("label", {}, box, icon("tag"), h("span", { dir: "auto" }, name)),
      menuButton(t("Actions for the tag “%(tag)s”", { tag: name }), items),
    );
  }

  async #add() {
    const name = this.field.value.trim();
    if (!name) return;
    if (await this.#save((tags) => [...tags, name])) this.field.value = "";
    this.field.focus();
  }

  /** @param {string} name @param {boolean} isChosen */
  #toggle(name, isChosen) {
    void this.#save((tags) => [...tags.filter((tag) => !isSameTag(tag, name)), ...(isChosen ? [name] : [])]);
  }

  /** @param {(tags: string[]) => string[]} change of what is stored by then @returns {Promise<boolean>} */
  async #save(change) {
    const saving = this.#attempt(async () => {
      this.chosen = (await changeSession(this.session.id, { tags: change(this.chosen) })).tags ?? [];
      this.all = [...this.all, ...this.chosen.filter((tag) => !hasTag(this.all, tag))];
    });
    const isSaved = await saving;
    // The rows show already what is saved next.
    if (saving === this.latest) this.#draw();
    return isSaved;
  }

  /** @param {string} name */
  async #rename(name) {
    const fields = { name: line(t("Name"), { maxLength: LONGEST, required: true, value: name }, t("In all chats")) };
    const renamed = await askFor(t("Rename this tag"), {
      yes: t("Rename"),
      look: "question form",
      fields,
      // What is saved before names the tag as it was.
      save: async (/** @type {{name: string}} */ { name: next }) => (await this.latest, renameTag(name, next)),
    });
    if (renamed) this.#replace(name, renamed.name);
  }

  /** @param {string} name */
  async #remove(name) {
    const what = h("p", {}, t("“%(tag)s” is removed from all chats. The chats stay.", { tag: name }));
    if (!(await ask(t("Delete this tag?"), { yes: t("Delete") }, what))) return;
    if (await this.#attempt(() => deleteTag(name))) this.#replace(name, null);
  }

  /** @param {string} tag @param {string|null} name */
  #replace(tag, name) {
    this.all = replaceTag(this.all, tag, name);
    this.chosen = replaceTag(this.chosen, tag, name);
    this.#draw();
    this.field.focus();
  }

  /** Says what failed in the dialog. One action follows the other. @param {() => Promise<any>} action @returns {Promise<boolean>} */
  #attempt(action) {
    this.problem.hidden = true;
    return (this.latest = this.latest.then(action).then(
      () => true,
      (error) => {
        this.problem.textContent = apiErrorText(error);
        this.problem.hidden = false;
        return false;
      },
    ));
  }
}
