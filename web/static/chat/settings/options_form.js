/** The tools, the prompt and the run options of a chat, of an agent, or of one message: the dialog, and the fields. */

import { askFor, text, radioGroup, Field, line } from "../elements/forms.js";
import { h } from "../elements/element.js";
import { t } from "../i18n.js";
import { ToolChoice } from "../tools/tool_choice.js";
import { apiErrorText } from "../answer/status_texts.js";

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

const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh"];
/** The name of a schema that was given without one. */
const SCHEMA_NAME = "answer";

/** @typedef {keyof OptionsBody} OptionName */

/**
 * The fields of run options: how the models of a chat, of an agent, or of one message, answer. They neither load nor
 * store.
 */
export class OptionsForm {
  /** @param {OptionsBody} options those set @param {Model[]} models that answer next */
  constructor(options, models) {
    this.fields = fieldsOf(options);
    this.schema = this.fields.json_schema;
    this.fields.response_format.control.addEventListener("change", () => this.#showSchema());
    this.#showSchema();
    for (const name of /** @type {OptionName[]} */ (Object.keys(this.fields))) {
      const without = models
        .filter(({ unsupported_options: missing }) => missing?.includes(name))
        .map((model) => model.name);
      if (without.length > 0) this.#lock(this.fields[name], without.join(", "));
    }
  }

  /** The fields by the members of a body with `options`. */
  get parts() {
    const { json_schema, ...others } = this.fields;
    const named = Object.entries(others).map(([name, field]) => [`options.${name}`, field]);
    return { ...Object.fromEntries(named), "options.response_format.json_schema": json_schema };
  }

  /** What is set. Throws a refusal with the field if the schema is no JSON object. @returns {OptionsBody} */
  get value() {
    const { fields } = this;
    /** @type {[OptionName, any][]} */
    const members = [
      ["temperature", numberOf(fields.temperature)],
      ["top_p", numberOf(fields.top_p)],
      ["max_output_tokens", numberOf(fields.max_output_tokens)],
      ["stop", stopsOf(fields.stop.control.value)],
      ["seed", numberOf(fields.seed)],
      ["reasoning_effort", fields.reasoning_effort.value || null],
      ["response_format", this.#format()],
      ["parallel_tool_calls", fields.parallel_tool_calls.value ? fields.parallel_tool_calls.value === "true" : null],
    ];
    return Object.fromEntries(members.filter(([, value]) => value !== null));
  }

  /** Sets these instead. @param {OptionsBody} options */
  fill(options) {
    const filled = fieldsOf(options);
    for (const name of /** @type {(keyof typeof filled)[]} */ (Object.keys(filled))) {
      const { control } = this.fields[name];
      control.value = filled[name].control.value;
      control.dispatchEvent(new Event("input"));
    }
    this.#showSchema();
  }

  #format() {
    const type = this.fields.response_format.value;
    if (type !== "json_schema") return type ? { type } : null;
    return { type, json_schema: schemaOf(this.schema.value) };
  }

  #showSchema() {
    const isAsked = this.fields.response_format.value === "json_schema";
    this.schema.element.hidden = !isAsked;
    /** @type {HTMLTextAreaElement} */ (this.schema.control).required = isAsked;
  }

  /** A value that is set can still be taken away. @param {Field} field @param {string} names of models */
  #lock(field, names) {
    field.explain(t("Without this option: %(names)s", { names }));
    field.control.disabled = field.value === "";
  }
}

/** @param {OptionsBody} options */
function fieldsOf(options) {
  const own = t("The model’s own");
  const number = (/** @type {number} */ max, /** @type {number|undefined} */ value) => ({
    type: "number",
    step: "any",
    min: 0,
    max,
    placeholder: own,
    value: value ?? "",
  });
  const whole = (/** @type {number} */ min, /** @type {number|undefined} */ value) => ({
    type: "number",
    step: 1,
    min,
    max: Number.MAX_SAFE_INTEGER,
    placeholder: own,
    value: value ?? "",
  });
  const format = options.response_format;
  return {
    temperature: line(
      t("Temperature"),
      number(2, options.temperature),
      t("0 to 2: the higher, the more varied the answers."),
    ),
    top_p: line(t("Top P"), number(1, options.top_p), t("0 to 1: the lower, the fewer words to pick from.")),
    reasoning_effort: choice(
      t("Reasoning"),
      new Map([["", own], ...EFFORTS.map((effort) => /** @type {const} */ ([effort, effortName(effort)]))]),
      options.reasoning_effort,
    ),
    max_output_tokens: line(t("Longest answer"), whole(1, options.max_output_tokens), t("In tokens.")),
    response_format: choice(
      t("Format of the answer"),
      new Map([
        ["", own],
        ["text", t("Text")],
        ["json_object", t("A JSON object")],
        ["json_schema", t("JSON by a schema")],
      ]),
      format?.type,
    ),
    parallel_tool_calls: choice(
      t("Several tools at once"),
      new Map([
        ["", own],
        ["true", t("Yes")],
        ["false", t("No")],
      ]),
      options.parallel_tool_calls === undefined ? "" : String(options.parallel_tool_calls),
    ),
    json_schema: text(
      t("JSON Schema"),
      { rows: 6, spellcheck: false, value: format?.json_schema ? JSON.stringify(format.json_schema, null, 2) : "" },
      t("The schema alone, or an object with its name, strict and schema."),
    ),
    stop: text(
      t("Stop at"),
      { rows: 2, spellcheck: false, value: (options.stop ?? []).map(escaped).join("\n") },
      t("Up to four texts that end the answer, one in each line; \\n is a line break."),
    ),
    seed: line(t("Seed"), whole(-Number.MAX_SAFE_INTEGER, options.seed), t("The same seed may give the same answer.")),
  };
}

/** @param {string} label @param {Map<string, string>} names value → what is shown @param {string} [value] */
function choice(label, names, value = "") {
  const entries = [...names].map(([each, name]) => h("option", { value: each, selected: each === value }, name));
  return new Field(label, h("select", {}, ...entries));
}

/** @param {string} effort */
function effortName(effort) {
  const names = {
    none: t("None"),
    minimal: t("Minimal"),
    low: t("Low"),
    medium: t("Medium"),
    high: t("High"),
    xhigh: t("Highest"),
  };
  return names[/** @type {keyof typeof names} */ (effort)];
}

/** @param {Field} field */
const numberOf = (field) => (field.value === "" ? null : Number(field.value));

/** The spaces of a text count; empty lines do not. @param {string} value */
function stopsOf(value) {
  const texts = value
    .split("\n")
    .filter(Boolean)
    .map((each) => each.replace(/\\[nt\\]/g, (escape) => UNESCAPED.get(escape) ?? escape));
  return texts.length > 0 ? texts : null;
}

const UNESCAPED = new Map([
  ["\\n", "\n"],
  ["\\t", "\t"],
  ["\\\\", "\\"],
]);

/** @param {string} stop */
const escaped = (stop) => stop.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll("\t", "\\t");

/** @param {string} value JSON */
function schemaOf(value) {
  const given = parsed(value);
  if (given === null || typeof given !== "object" || Array.isArray(given))
    throw { status: 0, code: "invalid_value", field: "options.response_format.json_schema" };
  const isNamed = typeof given.name === "string" && typeof given.schema === "object";
  return isNamed ? given : { name: SCHEMA_NAME, schema: given };
}

/** @param {string} value */
function parsed(value) {
  try {
    return JSON.parse(value);
  } catch {
    return null;
  }
}

/** What was refused of a body with `options`. @param {any} error */
export function refusedText(error) {
  const isSchema = (error.field ?? "").startsWith("options.response_format.json_schema");
  return isSchema && error.code === "invalid_value"
    ? t("This is no JSON Schema that can be used. Check it.")
    : apiErrorText(error);
}
