/** What an empty page suggests to ask. A suggestion may bring what shows it: tools, models side by side, a document. */

import { h } from "../elements/element.js";
import { StartBlocks } from "./start_blocks.js";

/** @import {Agent} from "../types.js" */

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
