/** The members of a knowledge base: owners add them by user name, change their roles, and remove them. */

import { apiErrorText } from "../answer/status_texts.js";
import { ask } from "../elements/dialogs.js";
import { h, setChildren } from "../elements/element.js";
import { icon } from "../elements/icons.js";
import { t } from "../i18n.js";
import { addMember, changeMember, readMembers, removeMember } from "./knowledge_api.js";
import { RepeatedRead } from "../server/list_store.js";
import { unlessGone } from "../server/api.js";
import { Field, oneAtATime } from "../elements/forms.js";
import { isOwned, isReadable, memberNote, roleNames, roleNote } from "./knowledge_store.js";

/** @import {KnowledgeBase, Member, MemberRole} from "../types.js" */

export class MembersView {
  /** @param {{attempt: (action: () => Promise<any>) => Promise<boolean>, failed: (error: any) => void}} page */
  constructor(page) {
    this.page = page;
    /** @type {KnowledgeBase|null} */
    this.base = null;
    /** @type {Map<string, MemberRow>} */
    this.rows = new Map();
    this.reading = new RepeatedRead(() => this.#read());
    this.list = h("ul", { class: "members", "aria-label": t("Members") });
    this.user = new Field(
      t("User name"),
      h("input", { type: "text", autocomplete: "off", spellcheck: false, required: true, maxLength: 150 }),
    );
    this.role = new Field(t("Role"), roleSelect("reader"));
    const add = oneAtATime(() => this.#add());
    this.form = h(
      "form",
      { class: "inviting", onsubmit: (/** @type {Event} */ event) => (event.preventDefault(), add()) },
      this.user.element,
      this.role.element,
      h("button", { type: "submit" }, icon("plus"), t("Add")),
    );
    this.element = h(
      "section",
      { class: "knowledge-part", "aria-label": t("Members") },
      h("h2", {}, t("Members")),
      this.list,
      this.form,
    );
  }

  /** @param {KnowledgeBase} base @param {boolean} isOther */
  show(base, isOther) {
    const hasNewRole = base.role !== this.base?.role;
    this.base = base;
    this.form.hidden = !isOwned(base);
    if (isOther) {
      this.rows.clear();
      this.list.replaceChildren();
      this.user.control.value = "";
      this.user.say("");
    }
    if (isOther || hasNewRole) this.refresh();
  }

  refresh() {
    void this.reading.ask();
  }

  async #read() {
    const { base } = this;
    if (!base || !isReadable(base)) return;
    try {
      const members = await readMembers(base.id);
      if (base.id === this.base?.id) this.#draw(members);
    } catch (error) {
      // The base, or the right to see its members, is gone: the list of bases says so.
      if (error.status !== 404) this.page.failed(error);
    }
  }

  /** @param {Member[]} members */
  #draw(members) {
    const actions = {
      change: (/** @type {Member} */ member, /** @type {MemberRole} */ role) => this.#change(member, role),
      remove: (/** @type {Member} */ member) => this.#remove(member),
    };
    const rows = members.map(
      (member) => /** @type {const} */ ([member.id, this.rows.get(member.id) ?? new MemberRow(actions)]),
    );
    const hadFocus = this.list.contains(document.activeElement);
    this.rows = new Map(rows);
    for (const member of members) this.rows.get(member.id).show(member, isOwned(this.base));
    setChildren(
      this.list,
      rows.map(([, { element }]) => element),
    );
    if (hadFocus && !this.list.contains(document.activeElement)) this.user.control.focus();
  }

  async #add() {
    const role = /** @type {MemberRole} */ (this.role.value);
    try {
      await addMember(this.base.id, { user: this.user.value, role });
      this.user.control.value = "";
      this.user.control.focus();
    } catch (error) {
      this.user.control.focus();
      this.user.say(apiErrorText(error));
    }
    this.refresh();
  }

  /** @param {Member} member @param {MemberRole} role */
  async #change(member, role) {
    await this.page.attempt(() => changeMember(this.base.id, member.id, role));
    this.refresh();
  }

  /** @param {Member} member */
  async #remove(member) {
    const { base } = this;
    const what = h("p", {}, t("“%(user)s” can no longer use “%(name)s”.", { user: member.user, name: base.name }));
    if (!(await ask(t("Remove this member?"), { yes: t("Remove") }, what))) return;
    await this.page.attempt(() => removeMember(base.id, member.id).catch(unlessGone));
    this.refresh();
  }
}

class MemberRow {
  /** @param {{change: (member: Member, role: MemberRole) => void, remove: (member: Member) => void}} actions */
  constructor(actions) {
    this.user = h("span", { class: "title" });
    this.role = h("span", { class: "hint" });
    this.note = h("span", { class: "hint" });
    this.select = roleSelect("reader");
    this.select.addEventListener("change", () =>
      actions.change(this.member, /** @type {MemberRole} */ (this.select.value)),
    );
    this.away = h(
      "button",
      { type: "button", class: "icon-button", title: t("Remove"), onclick: () => actions.remove(this.member) },
      icon("close"),
    );
    this.element = h("li", {}, icon("user"), this.user, this.note, this.role, this.select, this.away);
  }

  /** @param {Member} member @param {boolean} isMine  the user may change it */
  show(member, isMine) {
    this.member = member;
    const { user, role } = member;
    this.user.textContent = user;
    this.role.textContent = roleNames()[role];
    this.role.hidden = isMine;
    this.note.textContent = memberNote(member);
    this.select.hidden = this.away.hidden = !isMine;
    this.select.value = role;
    this.select.setAttribute("aria-label", t("Role of %(user)s", { user }));
    this.away.setAttribute("aria-label", t("Remove: %(what)s", { what: user }));
  }
}

/** @param {MemberRole} chosen */
function roleSelect(chosen) {
  const options = Object.entries(roleNames()).map(([value, name]) =>
    h("option", { value, selected: value === chosen, title: roleNote(/** @type {MemberRole} */ (value)) }, name),
  );
  return h("select", {}, ...options);
}
