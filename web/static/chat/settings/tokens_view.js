/** The user's API tokens: a new one is shown once, the others by their first characters. */

import * as api from "../server/api.js";
import { ask } from "../elements/dialogs.js";
import { oneAtATime } from "../elements/forms.js";
import { h } from "../elements/element.js";
import { icon, iconButton } from "../elements/icons.js";
import { shown, visibleText } from "../elements/visible_text.js";
import { language, t } from "../i18n.js";

/** @typedef {OwnTokenAnswer & {token?: string}} Token */

export class TokensView {
  /** @param {(error: any) => void} failed @param {() => void} changed a token was made or deleted */
  constructor(failed, changed) {
    /** @type {(error: any) => void} */
    this.failed = failed;
    this.changed = changed;
    this.list = h("ul", { class: "rows" });
    this.fresh = h("div", { class: "fresh", role: "status" });
    const create = h(
      "button",
      { type: "button", onclick: oneAtATime(() => this.#attempt(() => this.#create())) },
      icon("plus"),
      t("New token"),
    );
    const use = h(
      "p",
      { class: "hint" },
      t("For programs: they send it as “Authorization: Token …”, and below /v1/ as “Bearer …”."),
    );
    this.scope = choice(t("What the new token may do"), [
      ["write", t("Read and change")],
      ["read", t("Only read")],
      ["chat", t("Only ask, as a client of OpenAI's API")],
    ]);
    this.days = choice(t("How long the new token is valid"), [
      ["", t("Without end")],
      ...[7, 30, 90, 365].map((n) => [String(n), t("%(count)s days", { count: n })]),
    ]);
    this.name = h("input", {
      type: "text",
      maxLength: 100,
      autocomplete: "off",
      placeholder: t("What it is for"),
      "aria-label": t("Name of the new token"),
    });
    this.tokensPerDay = h("input", {
      type: "number",
      min: 1,
      step: 1,
      placeholder: t("Tokens per day"),
      "aria-label": t("How many tokens its answers may use per day"),
    });
    /** @type {Map<string, string>} */
    this.agents = new Map();
    const row = h("div", { class: "token-options" }, this.name, this.scope, this.days, this.tokensPerDay, create);
    this.element = h("section", {}, h("h3", {}, t("API tokens")), use, this.list, this.fresh, row);
    this.#attempt(() => this.#begin());
  }

  async #begin() {
    try {
      for (const agent of await api.readAllPages("agents/")) {
        this.agents.set(agent.id, agent.name);
        const only = t("Only ask the agent %(name)s", { name: visibleText(agent.name) });
        this.scope.append(h("option", { value: agent.id }, only));
      }
    } finally {
      await this.#read();
    }
  }

  async #read() {
    /** @type {Token[]} */
    const tokens = await api.call("GET", "auth/tokens/");
    this.list.replaceChildren(...tokens.map((token) => this.#row(token)));
  }

  /** @param {Token} token */
  #row(token) {
    const made = dayOf(token.created_at);
    const away = iconButton(t("Delete token %(start)s…", { start: token.start }), "trash", () =>
      this.#attempt(() => this.#remove(token)),
    );
    const limits = [
      made,
      this.#scope(token),
      token.tokens_per_day
        ? t("tokens per day: %(count)s", { count: token.tokens_per_day.toLocaleString(language) })
        : "",
      token.cost_per_day ? t("cost per day: %(cost)s", { cost: token.cost_per_day.toLocaleString(language) }) : "",
      token.expires_at ? this.#end(token.expires_at) : "",
      token.last_used_at ? t("last used on %(day)s", { day: dayOf(token.last_used_at) }) : t("never used"),
    ];
    return h(
      "li",
      {},
      icon("key"),
      token.name && h("strong", {}, shown(token.name)),
      h("code", {}, `${token.start}…`),
      h("span", { class: "hint" }, limits.filter(Boolean).join(" · ")),
      away,
    );
  }

  /** @param {Token} token */
  #scope(token) {
    if (token.scope === "agent") {
      const name = this.agents.get(token.agent ?? "");
      return name ? t("only asks the agent %(name)s", { name: visibleText(name) }) : t("for an agent that is gone");
    }
    return token.scope === "read" ? t("only reads") : token.scope === "chat" ? t("only asks") : "";
  }

  /** @param {string} time */
  #end(time) {
    const day = dayOf(time);
    return new Date(time) < new Date() ? t("expired on %(day)s", { day }) : t("until %(day)s", { day });
  }

  async #create() {
    const agent = this.agents.has(this.scope.value) ? this.scope.value : null;
    /** @type {Token} */
    const made = await api.call("POST", "auth/tokens/", {
      name: this.name.value.trim(),
      scope: agent ? "agent" : this.scope.value,
      agent,
      expires_in_days: numberIn(this.days),
      tokens_per_day: numberIn(this.tokensPerDay),
    });
    this.name.value = this.tokensPerDay.value = "";
    this.changed();
    await this.#read();
    const text = h("input", {
      type: "text",
      readOnly: true,
      value: made.token,
      "aria-label": t("New token"),
      onfocus: () => text.select(),
    });
    this.fresh.replaceChildren(h("p", {}, h("strong", {}, t("Copy it now: it is not shown again."))), text);
    text.focus();
  }

  /** @param {Token} token */
  async #remove(token) {
    const what = h("p", {}, t("Programs that use %(start)s… are locked out at once.", { start: token.start }));
    if (!(await ask(t("Delete this token?"), { yes: t("Delete") }, what))) return;
    await api.call("DELETE", `auth/tokens/${token.id}/`);
    this.changed();
    this.fresh.replaceChildren();
    await this.#read();
  }

  /** @param {() => Promise<void>} action */
  #attempt(action) {
    return action().catch(this.failed);
  }
}

/** @param {string} time */
function dayOf(time) {
  return new Date(time).toLocaleDateString(language, { dateStyle: "medium" });
}

/** @param {{value: string}} field */
function numberIn(field) {
  return field.value ? Number(field.value) : null;
}

/** @param {string} label @param {string[][]} options value and text */
function choice(label, options) {
  const rows = options.map(([value, text]) => h("option", { value }, text));
  return h("select", { "aria-label": label, title: label }, ...rows);
}
