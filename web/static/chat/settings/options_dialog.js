/** The dialog that sets how a chat, or only its next message, is answered: tools, prompt, run options. */

import { askFor, text, radioGroup } from "../elements/forms.js";
import { h } from "../elements/element.js";
import { OptionsForm, refusedText } from "./options_form.js";
import { t } from "../i18n.js";
import { ToolChoice } from "../tools/tool_choice.js";

/** @import {Part} from "../elements/forms.js" */
/** @import {ChatOptions} from "../composer/chat_options.js" */
/** @import {Agent, Model} from "../types.js" */

const LONGEST_PROMPT = 100_000;

/** @typedef {"chat"|"next"} Scope */

/**
 * @param {object} given
 * @param {ChatOptions} given.chat  what the chat has
 * @param {OptionsBody|null} given.next  what the next message has instead; null: the same
 * @param {Agent|null} given.agent
 * @param {Model[]} given.models  that answer next
 * @param {(chat: ChatOptions) => Promise<any>} given.save
 * @param {(options: OptionsBody|null) => void} given.sendNextWith
 */
export function openOptions({ chat, next, agent, models, save, sendNextWith }) {
  /** @type {Scope} */
  let scope = next ? "next" : "chat";
  const form = new OptionsForm(next ?? chat.options, models);
  const tools = new ToolChoice(chat.tools, agent?.tools);
  const prompt = text(
    t("Prompt"),
    { rows: 4, maxLength: LONGEST_PROMPT, value: chat.prompt },
    t("What every answer of this chat should follow, beside what the agent says."),
  );
  const choose = (/** @type {Scope} */ chosen) => {
    scope = chosen;
    tools.element.hidden = prompt.element.hidden = scope === "next";
  };
  /** @type {{tools: Part, prompt: Part}} */
  const fields = { tools, prompt, ...form.parts };
  choose(scope);
  return askFor(t("Options"), {
    yes: t("Save"),
    look: "large form run-options",
    note: heading(scope, choose, form, agent?.options ?? {}),
    fields,
    words: refusedText,
    save: async () => {
      if (scope === "next") return sendNextWith(form.value);
      await save({ tools: tools.value, prompt: prompt.control.value, options: form.value });
      sendNextWith(null);
    },
  });
}

/** @param {Scope} scope @param {(scope: Scope) => void} choose @param {OptionsForm} form @param {OptionsBody} ofAgent */
function heading(scope, choose, form, ofAgent) {
  /** @type {{value: Scope, label: string}[]} */
  const scopes = [
    { value: "chat", label: t("This chat") },
    { value: "next", label: t("Only the next message") },
  ];
  const clear = h("button", { type: "button", onclick: () => form.fill({}) }, t("Back to the models’ own values"));
  const hasAgents = Object.keys(ofAgent).length > 0;
  const back =
    hasAgents && h("button", { type: "button", onclick: () => form.fill(ofAgent) }, t("Back to the agent’s values"));
  return h(
    "div",
    { class: "options-head" },
    radioGroup(t("These options are for"), scopes, scope, choose),
    h("div", { class: "row" }, back, clear),
  );
}
