/** The dialog that sets how a chat, or only its next message, is answered: tools, prompt, run options. */

import { apiErrorText } from "../answer/status_texts.js";
import { askFor, text } from "../elements/form_dialog.js";
import { boxes, checked, group } from "../elements/check_boxes.js";
import { h } from "../elements/element.js";
import { OptionsForm } from "./options_form.js";
import { radioGroup } from "../elements/radio_group.js";
import { t } from "../i18n.js";
import { namesWith } from "../tools/tool_names.js";

/** @import {Agent, ChatOptions, Model, RunOptions} from "../types.js" */

const LONGEST_PROMPT = 100_000;

/** @typedef {"chat"|"next"} Scope */

/**
 * @param {object} given
 * @param {ChatOptions} given.chat  what the chat has
 * @param {RunOptions|null} given.next  what the next message has instead; null: the same
 * @param {Agent|null} given.agent
 * @param {Model[]} given.models  that answer next
 * @param {(chat: ChatOptions) => Promise<any>} given.save
 * @param {(options: RunOptions|null) => void} given.sendNextWith
 */
export function openOptions({ chat, next, agent, models, save, sendNextWith }) {
  /** @type {Scope} */
  let scope = next ? "next" : "chat";
  const form = new OptionsForm(next ?? chat.options, models);
  const tools = toolsPart(chat.tools, agent?.tools ?? []);
  const prompt = text(t("Prompt"), { rows: 4, maxLength: LONGEST_PROMPT, value: chat.prompt }, t("What every answer of this chat should follow, beside what the agent says."));
  const choose = (/** @type {Scope} */ chosen) => {
    scope = chosen;
    tools.element.hidden = prompt.element.hidden = scope === "next";
  };
  const { temperature, top_p, reasoning_effort, max_output_tokens, response_format, parallel_tool_calls, json_schema, stop, seed } = form.fields;
  const fields = {
    tools,
    prompt,
    "options.temperature": temperature,
    "options.top_p": top_p,
    "options.reasoning_effort": reasoning_effort,
    "options.max_output_tokens": max_output_tokens,
    "options.response_format": response_format,
    "options.parallel_tool_calls": parallel_tool_calls,
    "options.response_format.json_schema": json_schema,
    "options.stop": stop,
    "options.seed": seed,
  };
  choose(scope);
  return askFor(t("Options"), {
    yes: t("Save"),
    look: "large form run-options",
    note: heading(scope, choose, form),
    fields,
    words: refusedText,
    save: async () => {
      if (scope === "next") return sendNextWith(form.value);
      await save({ tools: tools.value, prompt: prompt.control.value, options: form.value });
      sendNextWith(null);
    },
  });
}

/** @param {Scope} scope @param {(scope: Scope) => void} choose @param {OptionsForm} form */
function heading(scope, choose, form) {
  /** @type {{value: Scope, label: string}[]} */
  const scopes = [
    { value: "chat", label: t("This chat") },
    { value: "next", label: t("Only the next message") },
  ];
  const clear = h("button", { type: "button", onclick: () => form.clear() }, t("Back to the models’ own values"));
  return h("div", { class: "options-head" }, radioGroup(t("These options are for"), scopes, scope, choose), clear);
}

/** Those of the agent cannot be taken away. @param {string[]} picked @param {string[]} ofAgent */
function toolsPart(picked, ofAgent) {
  const names = namesWith([...picked, ...ofAgent]);
  for (const tool of ofAgent) names.set(tool, t("%(name)s (of the agent)", { name: names.get(tool) ?? tool }));
  for (const tool of picked) if (!names.has(tool)) names.set(tool, tool);
  const inputs = boxes(names, [...picked, ...ofAgent]);
  for (const input of inputs) input.disabled = ofAgent.includes(input.value) && !picked.includes(input.value);
  const problem = h("small", { class: "field-problem", role: "alert", hidden: true });
  const say = (/** @type {string} */ words) => {
    problem.textContent = words;
    problem.hidden = !words;
  };
  const element = group(t("Tools"), inputs, names);
  element.append(problem);
  return {
    element,
    control: inputs[0],
    say,
    get value() {
      return checked(inputs.filter((input) => !input.disabled));
    },
  };
}

/** @param {any} error */
function refusedText(error) {
  const isSchema = (error.field ?? "").startsWith("options.response_format.json_schema");
  return isSchema && error.code === "invalid_value" ? t("This is no JSON Schema that can be used. Check it.") : apiErrorText(error);
}
