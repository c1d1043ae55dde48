/** What an empty page offers. */

import { h } from "../elements/element.js";
import { agentPicture } from "../agents/agent_picker.js";
import { knowledgeAddress, sessionAddress } from "../frame/address.js";
import { t } from "../i18n.js";
import { readBases } from "../knowledge/knowledge_api.js";
import { readPrompts } from "../prompts/prompts_api.js";
import { titleOf } from "../sessions/session_row.js";

/** @import {Agent, KnowledgeBase, SavedPrompt, Session} from "../types.js" */

/** What an empty page suggests to ask. A suggestion may bring what shows it: tools, models side by side, a document. */
export class Suggestions {
  /**
   * @param {{list: HTMLElement, welcome: HTMLElement, start: HTMLElement}} parts
   * @param {object} page
   * @param {import("./composer.js").Composer} page.composer
   * @param {import("./answer_settings.js").AnswerSettings} page.settings
   * @param {() => import("../types.js").Session[]} page.recent
   * @param {(error: any) => void} page.failed
   */
  constructor({ list, welcome, start }, { composer, settings, recent, failed }) {
    this.recent = recent;
    this.start = new StartBlocks(start, {
      choose: (agent) => settings.choose(agent),
      manage: settings.page.manage,
      take: (text) => composer.take(text, []),
    });
    this.list = list;
    /** Those of the server. */
    this.standard = [...list.children];
    this.greeting = welcome.querySelector("h2");
    this.standardGreeting = this.greeting.textContent;
    this.about = welcome.querySelector("p");
    this.composer = composer;
    this.settings = settings;
    /** @type {Agent|null} */
    this.agent = null;
    /** @type {HTMLButtonElement|null} */
    this.latest = null;
    list.addEventListener("click", (event) => {
      const button = /** @type {HTMLElement} */ (event.target).closest("button");
      if (button) this.#take(button).catch(failed);
    });
  }

  /** Greets in the name of the agent of the next new chat, and suggests what it is asked. @param {Agent|null} agent */
  show(agent) {
    this.start.show(this.settings.page.isNew() && !agent, this.settings.agents.agents, this.recent());
    if (agent === this.agent) return;
    this.agent = agent;
    this.greeting.textContent = agent ? [agent.emoji, agent.name].filter(Boolean).join(" ") : this.standardGreeting;
    this.about.textContent = agent?.description ?? "";
    const own = (agent?.questions ?? []).map((text) => h("li", {}, h("button", { type: "button", dir: "auto" }, text)));
    const shown = agent ? own : this.standard;
    this.list.replaceChildren(...shown);
    this.list.hidden = shown.length === 0;
  }

  /** @param {HTMLButtonElement} button */
  async #take(button) {
    const { textContent, dataset } = (this.latest = button);
    const files = dataset.document ? [await fetchDocument(dataset.document)] : [];
    if (this.latest !== button) return; // another one was chosen meanwhile
    this.settings.beginWith({ tools: words(dataset.tools), models: words(dataset.models) });
    this.composer.take(textContent, files);
  }
}

/** @param {string} [list] */
const words = (list) => list?.split(" ") ?? [];

/** @param {string} url of a file of this site @returns {Promise<File>} */
async function fetchDocument(url) {
  const answer = await fetch(url);
  // Collected files are named with a hash: lighthouse.0123456789ab.md.
  const [name, ...rest] = url.split("/").at(-1).split(".");
  return new File([await answer.blob()], `${name}.${rest.at(-1)}`, { type: "text/markdown" });
}

/** Of each kind; all of them are found elsewhere. */
const MOST = 4;

/** What a new chat can begin with, below the suggestions: agents, knowledge bases, saved prompts and recent chats. */
class StartBlocks {
  /**
   * @param {HTMLElement} element
   * @param {object} page
   * @param {(agent: Agent) => void} page.choose
   * @param {() => void} page.manage  opens the dialog that manages agents
   * @param {(text: string) => void} page.take
   */
  constructor(element, page) {
    this.element = element;
    this.page = page;
    this.isShown = false;
    /** What was drawn. */
    this.drawn = "";
    /** @type {KnowledgeBase[]} */
    this.bases = [];
    /** @type {SavedPrompt[]} */
    this.prompts = [];
  }

  /** @param {boolean} isShown @param {Agent[]} agents @param {Session[]} recent */
  show(isShown, agents, recent) {
    const begins = isShown && !this.isShown;
    this.isShown = isShown;
    this.element.hidden = !isShown;
    this.lists = { agents: agents.slice(0, MOST), recent: recent.slice(0, MOST) };
    if (begins) void this.#read();
    if (isShown) this.#draw();
  }

  /** What cannot be read is not offered. */
  async #read() {
    const [bases, prompts] = await Promise.allSettled([readBases(), readPrompts()]);
    if (bases.status === "fulfilled") this.bases = bases.value.filter(({ accepted }) => accepted).slice(0, MOST);
    if (prompts.status === "fulfilled") this.prompts = prompts.value.slice(0, MOST);
    this.#draw();
  }

  /** Draws what has changed: the focus may be inside. */
  #draw() {
    const { agents, recent } = this.lists;
    const chats = recent.map((chat) => /** @type {const} */ ([chat.id, titleOf(chat)]));
    const now = JSON.stringify([agents, this.bases, this.prompts, chats]);
    if (now === this.drawn) return;
    this.drawn = now;
    const { choose, manage, take } = this.page;
    const allAgents = button(manage, t("Agents…"));
    const allBases = link(knowledgeAddress(), t("Knowledge bases…"));
    const ofAgents = agents.map((agent) => button(() => choose(agent), agentPicture(agent), ` ${agent.name}`));
    const ofBases = this.bases.map(({ id, name }) => link(knowledgeAddress(id), name));
    // Who has none yet finds both in one line.
    const first = [...(ofAgents.length ? [] : [allAgents]), ...(ofBases.length ? [] : [allBases])];
    this.element.replaceChildren(
      ...block(t("Agents"), ofAgents, allAgents),
      ...block(t("Knowledge"), ofBases, allBases),
      ...block(
        t("Saved prompts"),
        this.prompts.map(({ name, text }) => button(() => take(text), name)),
      ),
      ...block(
        t("Recent chats"),
        chats.map(([id, title]) => link(sessionAddress(id), title)),
      ),
      ...(first.length ? [list(t("More to begin with"), first)] : []),
    );
  }
}

/** @param {string} name @param {HTMLElement[]} entries @param {...HTMLElement} last @returns {HTMLElement[]} none without entries */
function block(name, entries, ...last) {
  return entries.length > 0 ? [h("section", {}, h("h3", {}, name), list(name, [...entries, ...last]))] : [];
}

/** @param {string} name @param {HTMLElement[]} entries */
const list = (name, entries) =>
  h("ul", { class: "suggestions", "aria-label": name }, ...entries.map((entry) => h("li", {}, entry)));

/** @param {() => void} onclick @param {...(Node|string)} content */
const button = (onclick, ...content) => h("button", { type: "button", dir: "auto", onclick }, ...content);

/** @param {string} href @param {string} text */
const link = (href, text) => h("a", { href, dir: "auto" }, text);
