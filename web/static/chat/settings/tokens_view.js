/** The user's API tokens: a new one is shown once, the others by their first characters. */

import * as api from "../server/api.js";
import { ask } from "../elements/dialogs.js";
import { h } from "../elements/element.js";
import { icon } from "../elements/icons.js";
import { language, t } from "../i18n.js";

/** @typedef {{id: string, start: string, created_at: string, token?: string}} Token */

export class TokensView {
  /** @param {(error: any) => void} failed */
  constructor(failed) {
    /** @type {(error: any) => void} */
    this.failed = failed;
    this.list = h("ul", { class: "rows" });
    this.fresh = h("div", { class: "fresh", role: "status" });
    const create = h("button", { type: "button", onclick: () => this.#attempt(() => this.#create()) }, icon("plus"), t("New token"));
    const use = h("p", { class: "hint" }, t("For programs: they send it as “Authorization: Token …” and may do what you may."));
    this.element = h("section", {}, h("h3", {}, t("API tokens")), use, this.list, this.fresh, create);
    this.#attempt(() => this.#read());
  }

  async #read() {
    /** @type {Token[]} */
    const tokens = await api.call("GET", "auth/tokens/");
    this.list.replaceChildren(...tokens.map((token) => this.#row(token)));
  }

  /** @param {Token} token */
  #row(token) {
    const made = new Date(token.created_at).toLocaleDateString(language, { dateStyle: "medium" });
    const label = t("Delete token %(start)s…", { start: token.start });
    const away = h("button", { type: "button", class: "icon-button", "aria-label": label, title: label, onclick: () => this.#attempt(() => this.#remove(token)) }, icon("trash"));
    return h("li", {}, icon("key"), h("code", {}, `${token.start}…`), h("span", { class: "hint" }, made), away);
  }

  async #create() {
    /** @type {Token} */
    const made = await api.call("POST", "auth/tokens/");
    await this.#read();
    const text = h("input", { type: "text", readOnly: true, value: made.token, "aria-label": t("New token"), onfocus: () => text.select() });
    this.fresh.replaceChildren(h("p", {}, h("strong", {}, t("Copy it now: it is not shown again."))), text);
    text.focus();
  }

  /** @param {Token} token */
  async #remove(token) {
    const what = h("p", {}, t("Programs that use %(start)s… are locked out at once.", { start: token.start }));
    if (!(await ask(t("Delete this token?"), { yes: t("Delete") }, what))) return;
    await api.call("DELETE", `auth/tokens/${token.id}/`);
    this.fresh.replaceChildren();
    await this.#read();
  }

  /** @param {() => Promise<void>} action */
  #attempt(action) {
    return action().catch(this.failed);
  }
}
