/** What a waiting tool call asks of its user: a decision, a sign-in, or the visit of an address. */

import { apiErrorText } from "../answer/status_texts.js";
import { assign, h } from "../elements/element.js";
import { icon } from "../elements/icons.js";
import { shown, shownJson, visibleText } from "../elements/visible_text.js";
import { t } from "../i18n.js";
import * as api from "../server/api.js";
import { parseJson } from "../server/exact_json.js";
import { DecisionCard, button } from "./decision_card.js";
import { nameOf, serverOf, about, cardOf } from "../tools/tool_texts.js";

/** @import {ToolCall} from "../types.js" */
/** @import {ApiError} from "../server/api.js" */

const MOST_LINES = 16;

/** Asks whether a tool call may run: its arguments, which can be edited, and the decision. */
export class ApprovalCard extends DecisionCard {
  /** @param {ToolCall} call */
  constructor(call) {
    const edit = button(t("Edit"), () => this.#edit());
    super(
      call.row,
      edit,
      button(t("Refuse"), () => this.refuse()),
      button(t("Allow in this chat"), () => this.allow({ remember: "session" })),
      button(t("Allow"), () => this.allow(), "primary"),
    );
    this.edit = edit;
    this.json = h(
      "button",
      {
        type: "button",
        class: "quiet small",
        "aria-pressed": "false",
        onclick: () => this.#showJson(!this.table.hidden),
      },
      t("As JSON"),
    );
    this.table = h(
      "div",
      { class: "given", role: "group", tabIndex: 0, "aria-label": t("Arguments") },
      argumentsTable(call.given),
    );
    const json = JSON.stringify(call.given, null, 2);
    this.given = h(
      "pre",
      { class: "given", hidden: true, dir: "ltr", role: "group", tabIndex: 0, "aria-label": t("Arguments") },
      ...shownJson(json),
    );
    const text = visibleText(json);
    this.field = h("textarea", {
      hidden: true,
      value: text,
      dir: "ltr",
      spellcheck: false,
      rows: Math.min(MOST_LINES, text.split("\n").length + 1),
      "aria-label": t("Arguments"),
    });
    const title = t("%(name)s wants to run", { name: visibleText(nameOf(call.name)) });
    // Several calls of one tool are told apart by what they are called with.
    const purpose = h("p", { class: "purpose", dir: "auto", hidden: !call.summary }, ...summaryNodes(call));
    this.element = h(
      "section",
      { class: "approval", "aria-label": [title, visibleText(about(call))].filter(Boolean).join(": ") },
      h("p", { class: "title" }, icon(cardOf(call.name).icon), title),
      purpose,
      h("p", { class: "changed", hidden: !call.changed }, changeText(call.changed)),
      this.table,
      this.given,
      this.json,
      this.field,
      this.note,
      this.problem,
      this.buttons,
      this.said,
    );
  }

  /** @param {boolean} isJson else as a table */
  #showJson(isJson) {
    this.given.hidden = !isJson;
    this.table.hidden = isJson;
    this.json.setAttribute("aria-pressed", String(isJson));
  }

  #edit() {
    this.table.hidden = this.given.hidden = this.json.hidden = this.edit.hidden = true;
    this.field.hidden = false;
    this.field.focus();
  }

  refuse() {
    return this.decide({ approved: false, ...this.noted }, t("Refused"));
  }

  /** With the arguments as they are in the card. @param {{remember?: "session"}} [how] */
  allow(how = {}) {
    if (this.field.hidden) return this.decide({ approved: true, ...how }, t("Allowed"));
    const edited = parseObject(this.field.value);
    if (edited) return this.decide({ approved: true, arguments: edited, ...how }, t("Allowed"));
    this.complain(t("This is not a JSON object."));
    this.field.focus();
    return undefined;
  }

  /** @param {boolean} isDisabled */
  disable(isDisabled) {
    super.disable(isDisabled);
    this.field.disabled = isDisabled;
  }

  /** The server names what the tool's schema does not allow. @param {ApiError} error */
  refused(error) {
    this.complain(error.code === "arguments_invalid" ? `${apiErrorText(error)} ${error.message}` : apiErrorText(error));
  }

  /** @param {string} text */
  end(text) {
    super.end(text);
    this.field.readOnly = true;
  }
}

/** Decides about several calls in one click, one after the other. */
export class AllCalls {
  constructor() {
    /** @type {ApprovalCard[]} */
    this.cards = [];
    this.element = h(
      "div",
      { class: "row all", role: "group", "aria-label": t("All calls that wait") },
      button(t("Refuse all"), () => this.#each((card) => card.refuse())),
      button(t("Allow all"), () => this.#each((card) => card.allow())),
    );
  }

  /** @param {ApprovalCard[]} cards */
  show(cards) {
    this.cards = cards;
    assign(this.element, { hidden: cards.length < 2 });
  }

  /** @param {(card: ApprovalCard) => Promise<void>|undefined} decideAbout */
  async #each(decideAbout) {
    for (const card of this.cards.filter(({ isOpen }) => isOpen)) await decideAbout(card);
  }
}

/** The words are those of the server, if the tool is of one. @param {ToolCall} call */
function summaryNodes({ name, summary }) {
  const server = serverOf(name);
  return [server ? t("%(server)s says:", { server: visibleText(server) }) + " " : "", shown(summary ?? "")];
}

/** @param {string|null} changed */
function changeText(changed) {
  if (changed === "server") return t("You allowed a tool of another server with this name.");
  if (changed === "address")
    return t("The server is at another address, or set up in another way, since you allowed this.");
  return changed ? t("The tool’s definition has changed since you allowed it.") : "";
}

/** @param {string} text @returns {Record<string, any>|null} */
function parseObject(text) {
  try {
    const value = parseJson(text);
    return value !== null && typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** The arguments as people read them, with a table inside it for each nested object. @param {Record<string, any>} values @returns {HTMLElement} */
function argumentsTable(values) {
  const rows = Object.entries(values).map(([name, value]) =>
    h("tr", {}, h("th", { scope: "row" }, shown(name)), h("td", {}, valueNode(value))),
  );
  return rows.length === 0
    ? h("p", { class: "none" }, t("Without arguments"))
    : h("table", { class: "arguments" }, h("tbody", {}, ...rows));
}

/** @param {any} value @returns {HTMLElement} */
function valueNode(value) {
  if (Array.isArray(value) && value.length > 0)
    return h("ul", {}, ...value.map((item) => h("li", {}, valueNode(item))));
  if (isObject(value) && Object.keys(value).length > 0) return argumentsTable(value);
  return typeof value === "string" && value ? shown(value) : h("code", {}, JSON.stringify(value));
}

/** An integer that is too long for a number is an object of its own class. @param {any} value */
const isObject = (value) =>
  value !== null && typeof value === "object" && Object.getPrototypeOf(value) === Object.prototype;

/** Asks the user to sign in to the MCP server of a tool call. It goes on by itself then, so the card has only to lead there. */
export class SignInCard extends DecisionCard {
  /** @param {ToolCall & {signIn: SignInQuestionAnswer}} call */
  constructor({ row, signIn }) {
    const { server, again } = signIn;
    const name = visibleText(signIn.name);
    super(
      row,
      button(t("Go on without"), () => this.decide({ approved: false, ...this.noted }, t("Going on without"))),
      ...(server ? [button(t("Sign in"), () => this.#leave(server), "primary")] : []),
    );
    this.hint = h(
      "p",
      { role: "status", hidden: true },
      t("Sign in in the new tab. The answer goes on as soon as you have."),
    );
    const title = again ? t("Sign in to %(name)s again", { name }) : t("Sign in to %(name)s", { name });
    const reason = again ? h("p", {}, t("Your sign-in has expired, or this call needs more rights.")) : "";
    this.element = h(
      "section",
      { class: "approval", "aria-label": title },
      h("p", { class: "title" }, icon("user"), title),
      reason,
      this.hint,
      this.note,
      this.problem,
      this.buttons,
      this.said,
    );
  }

  /** The tab is opened by the click itself: browsers block those that are opened later. @param {string} server */
  async #leave(server) {
    this.problem.hidden = true;
    const tab = window.open("", "_blank");
    if (!tab) return this.complain(t("The browser has blocked the new tab. You can sign in on your profile too."));
    tab.opener = null;
    try {
      const { url } = await api.call("POST", `mcp-servers/${server}/sign-in/`);
      tab.location.replace(url);
      this.hint.hidden = false;
    } catch (/** @type {any} */ error) {
      tab.close();
      this.refused(error);
    }
  }

  /** @param {string} text */
  end(text) {
    super.end(text);
    this.hint.hidden = true;
  }
}

/** Sends the user to an address that the server of a tool call asks for, and goes on when they say that they are done there. */
export class AddressCard extends DecisionCard {
  /** @param {ToolCall & {address: AddressQuestionAnswer}} call */
  constructor({ row, name, address }) {
    super(
      row,
      button(t("Go on without"), () => this.decide({ approved: false, ...this.noted }, t("Going on without"))),
      button(t("Done"), () => this.decide({ approved: true, ...this.noted }, t("Answered")), "primary"),
    );
    const title = t("%(name)s sends you to a page", { name: visibleText(nameOf(name)) });
    this.element = h(
      "section",
      { class: "question-card", "aria-label": title },
      h("p", { class: "title" }, icon("user"), title),
      h("p", { class: "message", dir: "auto" }, shown(address.message)),
      h("p", { class: "message", dir: "ltr" }, linkTo(address.url)),
      this.note,
      this.problem,
      this.buttons,
      this.said,
    );
  }
}

/** As browsers write it: a host that looks like another is seen. @param {string} url */
function linkTo(url) {
  if (!URL.canParse(url)) return shown(url);
  const { href } = new URL(url);
  return h("a", { href, target: "_blank", rel: "noopener noreferrer" }, href);
}
