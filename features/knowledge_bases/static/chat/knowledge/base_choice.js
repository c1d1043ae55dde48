/** What the composer's picker of knowledge bases shows: the names of those that are picked, and the open list. */

import { radioGroup } from "../elements/forms.js";
import { h } from "../elements/element.js";
import { knowledgeAddress } from "../frame/address.js";
import { t, tn } from "../i18n.js";
import { roleNote } from "./knowledge_store.js";

/** @import {BasePicker} from "./knowledge.js" */
/** @import {KnowledgeStore} from "./knowledge_store.js" */
/** @import {KnowledgeBase} from "../types.js" */

export class BaseChoice {
  /** @param {BasePicker} picker @param {KnowledgeStore} store */
  constructor(picker, store) {
    this.picker = picker;
    this.store = store;
    /** What a choice in the list is for. @type {"chat"|"message"} */
    this.scope = "chat";
    this.summary = picker.details.querySelector("summary");
    this.name = h("span", { class: "name" });
    this.summary.append(this.name);
    this.list = picker.details.querySelector("fieldset");
    this.words = this.summary.getAttribute("aria-label") ?? "";
    store.listeners.add(() => this.draw());
  }

  draw() {
    const { bound, details, picked } = this.picker;
    const shown = picked.length > 0 ? picked : bound;
    const names = shown.map((id) => this.store.nameOf(id)).join(", ");
    const what = shown.length > 1 ? tn("%(count)s base", "%(count)s bases", shown.length) : names;
    this.name.textContent = picked.length > 0 ? t("Only %(what)s", { what }) : what;
    this.name.hidden = shown.length === 0;
    if (shown.length === 0) this.summary.title = this.words;
    else
      this.summary.title =
        picked.length > 0 ? t("Only from: %(names)s", { names }) : t("Knowledge bases: %(names)s", { names });
    this.summary.setAttribute("aria-label", this.summary.title);
    details.classList.toggle("chosen", shown.length > 0);
    if (details.open) this.#drawList();
  }

  #drawList() {
    const { list, scope, store } = this;
    const focused = list.contains(document.activeElement)
      ? /** @type {HTMLInputElement} */ (document.activeElement).value
      : null;
    const chosen = scope === "chat" ? this.picker.bound : this.picker.picked;
    const offered = store.accepted ?? [];
    const others = chosen
      .filter((id) => !offered.some((base) => base.id === id))
      .map((id) => store.get(id) ?? { id, name: store.nameOf(id) });
    const rows = [...offered, ...others].map((base) => this.#row(base, chosen));
    const hint =
      scope === "chat"
        ? t("Answers use what is found in them.")
        : t("The answer comes from these alone, or says that they do not hold it.");
    const none = h(
      "p",
      { class: "own" },
      store.rows
        ? t("A knowledge base holds documents that models search for their answers. You decide who else may use it.")
        : t("Reading…"),
    );
    list.replaceChildren(
      h("legend", {}, t("Knowledge bases that are searched")),
      ...(rows.length > 0 ? [this.#scopes(), ...rows, h("p", { class: "comparing" }, hint)] : [none]),
      h(
        "a",
        { class: "manage", href: knowledgeAddress(), onclick: () => (this.picker.details.open = false) },
        t("Knowledge bases…"),
      ),
    );
    if (focused !== null) [...list.querySelectorAll("input")].find(({ value }) => value === focused)?.focus();
  }

  #scopes() {
    /** @type {{value: "chat"|"message", label: string}[]} */
    const options = [
      { value: "chat", label: t("In this chat") },
      { value: "message", label: t("Next message only") },
    ];
    return radioGroup(t("When"), options, this.scope, (value) => {
      this.scope = value;
      this.#drawList();
    });
  }

  /** @param {Pick<KnowledgeBase, "id"|"name"> & Partial<KnowledgeBase>} base @param {string[]} chosen */
  #row({ id, name, role }, chosen) {
    const onchange = () => this.#choose(box.checked ? [...chosen, id] : chosen.filter((one) => one !== id));
    const box = h("input", { type: "checkbox", value: id, checked: chosen.includes(id), onchange });
    return h("label", {}, box, h("span", {}, name, role === "restricted" && h("small", {}, ` ${roleNote(role)}`)));
  }

  /** @param {string[]} ids */
  #choose(ids) {
    if (this.scope === "chat") this.picker.page.bind(ids);
    else this.picker.pick(ids);
  }
}
