/** The agent, models, knowledge bases, options, tool and while_answering mode of the open chat, or of the next new one. */

import { AgentPicker } from "../agents/agent_picker.js";
import { BasePicker } from "../knowledge/knowledge.js";
import { ChatOptionsButton } from "./chat_options.js";
import { Completions } from "./completions.js";
import { readModels, changeSession, readCatalogs } from "../server/api.js";
import { ModelPicker } from "./model_picker.js";
import { readPrompts } from "../prompts/prompts_api.js";
import { onPreferences } from "../settings/preferences.js";
import { t } from "../i18n.js";
import { attachMenu } from "../elements/menu.js";
import { nameOf, singleTools } from "../tools/tool_texts.js";

/** @import {McpCatalog, McpPrompt} from "./server_attachments.js" */
/** @import {Agent, Model, Session, WhileAnswering} from "../types.js" */

/** fill: a server makes the text. @typedef {{name: string, text: string, fill?: () => void}} PromptRow */

/** @param {PromptRow} row */
function pickPrompt({ text, fill }) {
  fill?.();
  return text;
}

export class AnswerSettings {
  /**
   * @param {{models: HTMLDetailsElement, agents: HTMLDetailsElement, bases: HTMLDetailsElement, tool: HTMLButtonElement, options: HTMLButtonElement, field: HTMLTextAreaElement}} parts
   * @param {object} page
   * @param {() => Session|undefined} page.session  the open one, as far as it is known
   * @param {() => boolean} page.isNew  no chat is open: the next message begins one
   * @param {(id: string, fields: Partial<Session>) => void} page.assume
   * @param {(action: () => Promise<any>) => Promise<boolean>} page.attempt
   * @param {(models: Model[]) => void} page.offered
   * @param {(agent: Agent|null) => void} page.chosen  the agent of the next new chat
   * @param {() => void} page.manage
   * @param {() => Promise<import("../knowledge/knowledge_store.js").KnowledgeStore>} page.knowledge
   * @param {(error: Error) => void} page.failed
   */
  constructor(parts, page) {
    this.page = page;
    this.picker = new ModelPicker(parts.models, (models) => this.#pick(models));
    this.tool = new ForcedTool(parts.tool);
    this.agents = new AgentPicker(parts.agents, {
      choose: (agent) => this.choose(agent),
      changed: () => this.show(),
      manage: page.manage,
      failed: page.failed,
    });
    this.completions = this.#complete(parts.field);
    this.bases = new BasePicker(parts.bases, {
      bind: (bases) => this.#bind(bases),
      store: page.knowledge,
      failed: page.failed,
    });
    this.options = new ChatOptionsButton(parts.options, {
      ...page,
      agent: () => this.agents.agent,
      models: () => this.picker.models.filter(({ name }) => this.models.includes(name)),
      changed: () => this.show(),
    });
    /** The agent of the next new chat. @type {string|null} */
    this.forNew = null;
    /** Its knowledge bases. @type {string[]} */
    this.basesForNew = [];
    /** Its models, where a suggestion brought some. @type {string[]} */
    this.modelsForNew = [];
    /** Its models, where they were picked. @type {string[]} */
    this.pickedForNew = [];
    /** Once it is known who can answer, or that it cannot be known now. @type {Promise<any>} */
    this.ready = Promise.all([this.#readModels(), this.agents.read()]);
    this.isConnectedAgain = false;
    onPreferences(parts.models, ({ models }) =>
      this.picker.offer(this.picker.models.map((model) => ({ ...model, is_own_default: models.includes(model.name) }))),
    );
  }

  /** @param {wire.Frame} frame */
  receive(frame) {
    if (frame.type === "models_changed") void this.#readModels();
  }

  /** The socket is open: at first, and again after a loss, in which changes were not told. */
  reconnected() {
    if (this.isConnectedAgain) void this.#readModels();
    this.isConnectedAgain = true;
  }

  /** The names of the chosen models; empty until they are loaded, then the server chooses. */
  get models() {
    return this.picker.picked;
  }

  /** The names of the chosen models that see no pictures. */
  get withoutVision() {
    const seeing = new Set(this.picker.models.filter((model) => model.supports_vision).map(({ name }) => name));
    return this.models.filter((name) => !seeing.has(name));
  }

  /** The names of all offered models. */
  get offered() {
    return this.picker.models.map(({ name }) => name);
  }

  /** @returns {WhileAnswering} */
  get mode() {
    return this.page.session()?.while_answering ?? "enqueue";
  }

  /** Called when another session is open, or its agent or models changed. */
  show() {
    if (!this.page.isNew()) [this.forNew, this.basesForNew, this.modelsForNew, this.pickedForNew] = [null, [], [], []];
    this.agents.show(this.page.isNew() ? this.forNew : (this.page.session()?.agent ?? null));
    this.page.chosen(this.agents.agent);
    this.picker.use(this.agents.agent, this.page.isNew() ? this.#ownOfNew : (this.page.session()?.models ?? []));
    this.bases.show(this.page.isNew() ? this.basesForNew : (this.page.session()?.knowledge_bases ?? []));
    this.options.show();
    this.tool.offer([...new Set([...(this.agents.agent?.tools ?? []), ...this.options.tools])]);
  }

  get #ownOfNew() {
    return this.modelsForNew.length > 0 ? this.modelsForNew : this.pickedForNew;
  }

  /** Sets what a suggestion brings for the next new chat, or takes away what the one before brought. @param {{tools: string[], models: string[]}} given */
  beginWith({ tools, models }) {
    this.options.beginWith(tools);
    this.modelsForNew = models;
    this.show();
  }

  /** @param {WhileAnswering} mode */
  chooseMode(mode) {
    return this.#change({ while_answering: mode });
  }

  /** @param {Agent|null} agent */
  choose(agent) {
    if (this.page.isNew()) {
      this.forNew = agent?.id ?? null;
      this.pickedForNew = []; // as below
      this.show();
    } else {
      this.#change({ agent: agent?.id ?? null, models: [] }); // the agent brings its own
    }
  }

  /** @param {string[]} models */
  #pick(models) {
    if (!this.page.isNew()) return this.#change({ models });
    [this.pickedForNew, this.modelsForNew] = [models, []]; // what is picked by hand counts
    this.show();
  }

  /** @param {string[]} bases */
  #bind(bases) {
    if (!this.page.isNew()) return this.#change({ knowledge_bases: bases });
    this.basesForNew = bases;
    this.show();
  }

  /** Applies a change optimistically and reverts it if the server rejects it. @param {Partial<Pick<Session, "agent"|"while_answering"|"models"|"knowledge_bases">>} fields */
  async #change(fields) {
    const session = this.page.session();
    if (!session) return;
    const before = {
      agent: session.agent,
      while_answering: session.while_answering,
      models: session.models,
      knowledge_bases: session.knowledge_bases,
    };
    this.page.assume(session.id, fields);
    const changing = this.page.attempt(() => changeSession(session.id, fields));
    // A message that is sent meanwhile is answered as chosen.
    this.ready = Promise.all([this.ready, changing]);
    if (!(await changing)) this.page.assume(session.id, before);
  }

  /** @param {HTMLTextAreaElement} field */
  #complete(field) {
    const pickAgent = (/** @type {Agent} */ agent) => {
      this.choose(agent);
      return "";
    };
    /** Read when a "/" is typed: they are changed elsewhere. @type {PromptRow[][]} */
    let [own, offered] = [[], []];
    const read = async () => {
      [own, offered] = await Promise.all([
        readPrompts().catch(() => own),
        this.#serverPrompts(field).catch(() => offered),
      ]);
      this.completions.update();
    };
    return new Completions(field, [
      { sign: "@", label: t("Agents"), icon: "agent", rows: () => this.agents.agents, pick: pickAgent },
      { sign: "/", label: t("Prompts"), icon: "edit", rows: () => [...own, ...offered], begin: read, pick: pickPrompt },
    ]);
  }

  /** Of MCP servers: picked, they are filled in by the composer. @param {HTMLTextAreaElement} field @returns {Promise<PromptRow[]>} */
  async #serverPrompts(field) {
    if (/** @type {HTMLElement} */ (field.form.querySelector("[data-servers]")).hidden) return [];
    const fill = (/** @type {McpCatalog} */ catalog, /** @type {McpPrompt} */ prompt) => () =>
      field.dispatchEvent(new CustomEvent("prompted", { bubbles: true, detail: { catalog, prompt } }));
    return (await readCatalogs()).flatMap((catalog) =>
      catalog.prompts.map((prompt) => ({
        name: `${catalog.name}: ${prompt.title}`,
        text: "",
        fill: fill(catalog, prompt),
      })),
    );
  }

  async #readModels() {
    try {
      const models = await readModels();
      this.picker.offer(models);
      this.page.offered(models);
    } catch (error) {
      this.page.failed(error);
    }
  }
}

/** Picks a tool of the chat's agent that the next answer must start with. */
class ForcedTool {
  /** @param {HTMLButtonElement} button */
  constructor(button) {
    this.button = button;
    /** @type {string[]} */
    this.offered = [];
    /** @type {string|null} of one question; null: the model decides */
    this.chosen = null;
    attachMenu(button, () => this.#items());
    this.#show();
  }

  /** @param {string[]} tools those of the agent that answers next */
  offer(tools) {
    this.offered = singleTools(tools);
    if (this.chosen && !this.offered.includes(this.chosen)) this.chosen = null;
    this.#show();
  }

  /** @param {string|null} tool */
  choose(tool) {
    this.chosen = tool;
    this.#show();
  }

  #show() {
    const name = this.chosen ? nameOf(this.chosen) : t("the model decides");
    this.button.hidden = this.offered.length === 0;
    this.button.setAttribute("aria-pressed", String(this.chosen !== null));
    this.button.title = t("Tool for the next question: %(name)s", { name });
    this.button.setAttribute("aria-label", this.button.title);
  }

  /** @returns {import("../elements/menu.js").MenuItem[]} */
  #items() {
    const item = (/** @type {string|null} */ tool, /** @type {string} */ label) => ({
      label,
      checked: tool === this.chosen,
      action: () => this.choose(tool),
    });
    return [item(null, t("The model decides")), ...this.offered.map((tool) => item(tool, nameOf(tool)))];
  }
}
