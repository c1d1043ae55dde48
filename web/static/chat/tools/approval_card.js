/** Asks whether a tool call may run: its arguments, which can be edited, and the decision. */

import { apiErrorText } from "../answer/status_texts.js";
import { h } from "../elements/element.js";
import { icon } from "../elements/icons.js";
import { t } from "../i18n.js";
import { decide } from "../server/approvals_api.js";
import { nameOf } from "./tool_names.js";
import { about, wordsOf } from "./tool_texts.js";

/** @import {ToolCall} from "../types.js" */
/** @import {Decision} from "../server/approvals_api.js" */

const LONGEST_NOTE = 2_000;
const MOST_LINES = 16;

export class ApprovalCard {
  /** @param {ToolCall} call */
  constructor(call) {
    this.row = call.row;
    const text = JSON.stringify(call.given, null, 2);
    this.given = h("pre", { class: "given", role: "group", tabIndex: 0, "aria-label": t("Arguments") }, text);
    this.field = h("textarea", { hidden: true, value: text, spellcheck: false, rows: Math.min(MOST_LINES, text.split("\n").length + 1), "aria-label": t("Arguments") });
    this.note = h("input", { type: "text", maxLength: LONGEST_NOTE, placeholder: t("Note for the model (optional)"), "aria-label": t("Note for the model (optional)") });
    this.problem = h("p", { role: "alert", class: "problem", hidden: true });
    this.edit = button(t("Edit"), () => this.#edit());
    this.buttons = h("div", { class: "row" },
      this.edit,
      button(t("Refuse"), () => this.refuse()),
      button(t("Allow in this chat"), () => this.allow({ remember: "session" })),
      button(t("Allow"), () => this.allow(), "primary"));
    this.said = h("p", { role: "status", class: "said", hidden: true });
    const title = t("%(name)s wants to run", { name: nameOf(call.name) });
    // Several calls of one tool are told apart by what they are called with.
    this.element = h("section", { class: "approval", "aria-label": [title, about(call)].filter(Boolean).join(": ") },
      h("p", { class: "title" }, icon(wordsOf(call.name).icon), title), this.given, this.field, this.note, this.problem, this.buttons, this.said);
  }

  #edit() {
    this.given.hidden = this.edit.hidden = true;
    this.field.hidden = false;
    this.field.focus();
  }

  /** Whether it can be decided: it has not been, and no answer is awaited. */
  get isOpen() {
    return !this.edit.disabled && this.said.hidden;
  }

  refuse() {
    const note = this.note.value.trim();
    return this.#decide({ approved: false, ...(note ? { note } : {}) });
  }

  /** With the arguments as they are in the card. @param {{remember?: "session"}} [how] */
  allow(how = {}) {
    if (this.field.hidden) return this.#decide({ approved: true, ...how });
    const edited = parseObject(this.field.value);
    if (edited) return this.#decide({ approved: true, arguments: edited, ...how });
    this.#complain(t("This is not a JSON object."));
    this.field.focus();
    return undefined;
  }

  /** @param {Decision} decision */
  async #decide(decision) {
    this.problem.hidden = true;
    this.#disable(true);
    try {
      await decide(this.row, decision);
      this.#end(decision.approved ? t("Allowed") : t("Refused"));
    } catch (/** @type {any} */ error) {
      if (error.code === "already_decided") return this.#end(apiErrorText(error));
      this.#disable(false);
      // The server names what the tool's schema does not allow.
      this.#complain(error.code === "arguments_invalid" ? `${apiErrorText(error)} ${error.message}` : apiErrorText(error));
    }
  }

  /** @param {boolean} isDisabled */
  #disable(isDisabled) {
    for (const control of [this.field, this.note, ...this.buttons.querySelectorAll("button")]) control.disabled = isDisabled;
  }

  /** @param {string} text */
  #complain(text) {
    this.problem.textContent = text;
    this.problem.hidden = false;
  }

  /** Until the answer goes on. @param {string} text */
  #end(text) {
    this.said.textContent = text;
    this.said.hidden = false;
    this.buttons.hidden = this.note.hidden = true;
    this.field.readOnly = true;
  }
}

/** Decides about several calls in one click, one after the other. */
export class AllCalls {
  /** @param {readonly ApprovalCard[]} cards */
  constructor(cards) {
    this.cards = cards;
    this.element = h("div", { class: "row all", role: "group", "aria-label": t("All calls that wait") },
      button(t("Refuse all"), () => this.#each((card) => card.refuse())),
      button(t("Allow all"), () => this.#each((card) => card.allow())));
  }

  /** @param {(card: ApprovalCard) => Promise<void>|undefined} decideAbout */
  async #each(decideAbout) {
    for (const card of this.cards.filter(({ isOpen }) => isOpen)) await decideAbout(card);
  }
}

/** @param {string} label @param {() => void} onclick @param {string} [kind] */
const button = (label, onclick, kind = "") => h("button", { type: "button", class: `small ${kind}`, onclick }, label);

/** @param {string} text @returns {Record<string, any>|null} */
function parseObject(text) {
  try {
    const value = JSON.parse(text);
    return value !== null && typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
