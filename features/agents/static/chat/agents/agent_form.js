/** The form of one agent. It neither loads nor stores agents. */

import { AgentKnowledge } from "./agent_knowledge.js";
import { boxes, boxRow, checked, group, Field, nonEmptyLines, radioGroup } from "../elements/forms.js";
import { h } from "../elements/element.js";
import { OptionsForm } from "../settings/options_form.js";
import { t } from "../i18n.js";
import { ToolChoice } from "../tools/tool_choice.js";

/** @import {KnowledgeBase, Model} from "../types.js" */

/** @typedef {Omit<AgentAnswer, "id"|"is_shared_by_name"|"shared_by"|"created_at"|"updated_at">} AgentFields  those that the server accepts; some of the knowledge bases may be deleted */

/** @type {AgentFields} */
export const NEW_AGENT = {
  name: "",
  emoji: "",
  description: "",
  questions: [],
  prompt: "",
  replaces_system_prompt: false,
  reminder: "",
  tools: [],
  models: [],
  knowledge_bases: [],
  options: {},
  context_layout: "moving",
  shared_with: [],
  shared_with_users: [],
};

const MOST_MODELS = 4;
const MOST_QUESTIONS = 4;
/** Types of controls that can be read, and copied from, without being changed. */
const READ = ["text", "number", "textarea"];

export class AgentForm {
  /** @param {AgentFields & {id?: string, shared_by?: string|null}} agent  of somebody else: it is read, not changed @param {{models: Model[], bases: KnowledgeBase[], groups: GroupAnswer[]}} offered */
  constructor(agent, { models, bases, groups }) {
    const isForeign = Boolean(agent.shared_by);
    this.agent = agent;
    /** Empty: it is not stored yet. */
    this.id = agent.id ?? "";
    this.layout = agent.context_layout;
    this.name = h("input", { type: "text", maxLength: 200, required: true, value: agent.name });
    this.emoji = h("input", { type: "text", maxLength: 16, value: agent.emoji, class: "emoji" });
    this.description = h("input", { type: "text", maxLength: 300, value: agent.description });
    this.questions = h("textarea", { rows: 4, value: agent.questions.join("\n") });
    this.prompt = h("textarea", { rows: 7, value: agent.prompt });
    this.reminder = h("textarea", { rows: 2, value: agent.reminder });
    this.replaces = h("input", { type: "checkbox", checked: agent.replaces_system_prompt });
    this.tools = new ToolChoice(agent.tools);
    this.models = boxes(new Map(models.map(({ name }) => [name, name])), agent.models);
    this.knowledge = new AgentKnowledge(agent, bases, isForeign);
    this.options = new OptionsForm(
      agent.options,
      models.filter(({ name }) => agent.models.includes(name)),
    );
    this.groupNames = new Map(groups.map(({ id, name }) => [String(id), name]));
    this.groups = boxes(this.groupNames, agent.shared_with.map(String));
    this.invites = h("input", { type: "checkbox" });
    this.people = h("textarea", {
      rows: 2,
      spellcheck: false,
      autocomplete: "off",
      value: agent.shared_with_users.join("\n"),
    });
    this.models.forEach((box) => box.addEventListener("change", () => this.#limitModels()));
    this.#limitModels();
    this.element = h("div", { class: "form-sections" }, ...this.#sections(isForeign));
    if (isForeign) this.#makeReadOnly();
    this.before = JSON.stringify(this.value);
  }

  /** Throws as OptionsForm does. @returns {AgentFields} */
  get value() {
    return {
      name: this.name.value.trim(),
      emoji: this.emoji.value.trim(),
      description: this.description.value.trim(),
      questions: nonEmptyLines(this.questions.value).slice(0, MOST_QUESTIONS),
      prompt: this.prompt.value,
      replaces_system_prompt: this.replaces.checked,
      reminder: this.reminder.value,
      tools: this.tools.value,
      models: checked(this.models),
      knowledge_bases: this.knowledge.value,
      options: this.options.value,
      context_layout: this.layout,
      shared_with: checked(this.groups).map(Number),
      shared_with_users: nonEmptyLines(this.people.value),
    };
  }

  get isChanged() {
    try {
      return this.knowledge.isChanged || JSON.stringify(this.value) !== this.before;
    } catch {
      return true; // to a schema that is none
    }
  }

  /** @param {boolean} isForeign */
  #sections(isForeign) {
    const about = [
      field(t("Name"), this.name),
      field(t("Emoji"), this.emoji),
      field(t("Description"), this.description, t("What people read where they choose it.")),
      this.#questionsField(),
    ];
    const prompt = [
      field(t("Prompt"), this.prompt, t("Who the agent is and what it should do.")),
      h("label", { class: "box" }, this.replaces, h("span", {}, t("Replaces the system prompt of this server"))),
      field(t("Reminder"), this.reminder, t("A line the model is told with every message; long chats need it most.")),
    ];
    const models = [
      group(t("Models that answer by default"), this.models, new Map(this.models.map(({ value }) => [value, value]))),
      this.#optionsPart(),
      this.#layoutChoice(),
    ];
    return [
      section(t("About"), ...about),
      section(t("Instructions"), ...prompt),
      section(t("Tools and knowledge"), this.tools.element, this.knowledge.element),
      section(t("Models"), ...models),
      ...(isForeign ? [] : [section(t("Sharing"), this.#sharing())]),
    ];
  }

  #questionsField() {
    return field(
      t("Opening questions"),
      this.questions,
      t("One in a line, at most %(count)s. A new chat with the agent suggests them.", { count: MOST_QUESTIONS }),
    );
  }

  #makeReadOnly() {
    for (const control of /** @type {NodeListOf<HTMLInputElement|HTMLTextAreaElement|HTMLSelectElement>} */ (
      this.element.querySelectorAll("input, textarea, select")
    )) {
      if (!(control instanceof HTMLSelectElement) && READ.includes(control.type)) control.readOnly = true;
      else control.disabled = true;
    }
  }

  #optionsPart() {
    const hint = h("p", { class: "hint" }, t("How its models answer, where chat and message say nothing else."));
    const fields = h("div", { class: "fields" }, ...Object.values(this.options.fields).map((field) => field.element));
    const part = h(
      "details",
      { class: "run-options", open: Object.keys(this.agent.options).length > 0 },
      h("summary", {}, t("Options")),
      hint,
      fields,
    );
    part.addEventListener("invalid", () => (part.open = true), true);
    return part;
  }

  #sharing() {
    const sharing = group(t("Shared with"), this.groups, this.groupNames);
    const invites = boxRow(this.invites, t("Make them readers of its knowledge bases"));
    const offerInvites = () => (invites.hidden = !this.knowledge.isShareable);
    this.knowledge.element.addEventListener("change", offerInvites);
    offerInvites();
    const hint = h(
      "p",
      { class: "hint" },
      t("They read it and chat with it. Of its knowledge bases, each searches those that they are a member of."),
    );
    sharing.append(field(t("People"), this.people, t("User names, one in a line.")), invites, hint);
    return sharing;
  }

  #layoutChoice() {
    /** @type {{value: AgentFields["context_layout"], label: string}[]} */
    const layouts = [
      { value: "moving", label: t("Follow the reminder closely") },
      { value: "append_only", label: t("Answer sooner and cheaper") },
    ];
    const picked = radioGroup(t("In long chats"), layouts, this.layout, (value) => (this.layout = value));
    const hint = t(
      "The first tells the model the time and the reminder again right before each answer. The second leaves all that was sent as it was, which many model servers need not read, or charge, again.",
    );
    picked.append(h("p", { class: "hint" }, hint));
    return picked;
  }

  /** After the agent was stored: people who do not exist are refused there. */
  async invitePeople() {
    if (this.invites.checked && this.knowledge.isShareable)
      await this.knowledge.invite(nonEmptyLines(this.people.value));
  }

  #limitModels() {
    const isFull = checked(this.models).length >= MOST_MODELS;
    for (const box of this.models) box.disabled = isFull && !box.checked;
  }
}

/** @param {string} label @param {HTMLInputElement|HTMLTextAreaElement} control @param {string} [hint] */
const field = (label, control, hint) => new Field(label, control, hint).element;

/** @param {string} heading @param {...HTMLElement} fields */
const section = (heading, ...fields) =>
  h("section", { class: "form-section" }, h("h3", {}, heading), h("div", { class: "fields" }, ...fields));
