/** Picks the agent of the open chat, or of the next new one. */

import { h } from "../elements/element.js";
import { closeOnLeave } from "../elements/menu.js";
import { t } from "../i18n.js";
import { icon } from "../elements/icons.js";
import { readAllPages } from "../server/api.js";

/** @import {Agent} from "../types.js" */

/** @returns {Promise<AgentAnswer[]>} all, the latest changed first */
export const readAgents = () => readAllPages("agents/");

/** Its emoji, or the icon of all agents. @param {{emoji?: string}} agent */
export const agentPicture = ({ emoji }) =>
  emoji ? h("span", { class: "emoji", "aria-hidden": "true" }, emoji) : icon("agent");

export class AgentPicker {
  /**
   * @param {HTMLDetailsElement} details
   * @param {object} page
   * @param {(agent: Agent|null) => void} page.choose
   * @param {() => void} page.changed  the list of agents was read again
   * @param {() => void} page.manage  opens the dialog that manages agents
   * @param {(error: Error) => void} page.failed
   */
  constructor(details, page) {
    this.details = details;
    this.page = page;
    this.summary = details.querySelector("summary");
    this.name = h("span", { class: "name" });
    this.picture = h("span", { class: "picture" }, icon("agent"));
    this.summary.append(this.picture, this.name, icon("chevronDown"));
    this.list = details.querySelector("fieldset");
    /** @type {Agent[]} */
    this.agents = [];
    /** @type {string|null} */
    this.chosen = null;
    closeOnLeave(details, () => this.read());
    // The dialog that manages agents; `close` does not bubble.
    document.addEventListener(
      "close",
      (event) => /** @type {Element} */ (event.target).querySelector(".agents") && this.read(),
      true,
    );
    this.#show();
    details.hidden = false;
  }

  /** The chosen agent; null: none, or a deleted one. */
  get agent() {
    return this.agents.find(({ id }) => id === this.chosen) ?? null;
  }

  /** Reads the agents each time it opens: they are created, changed and deleted elsewhere. */
  async read() {
    try {
      this.agents = await readAgents();
    } catch (error) {
      this.page.failed(error);
      return;
    }
    this.#show();
    this.page.changed();
  }

  /** @param {string|null} id of the session's agent */
  show(id) {
    if (this.chosen === id) return;
    this.chosen = id;
    this.#show();
  }

  #show() {
    const name = this.agent?.name ?? t("No agent");
    this.name.textContent = this.agent ? name : t("Agent");
    this.picture.replaceChildren(agentPicture(this.agent ?? {}));
    this.summary.title = t("Agent: %(name)s", { name });
    this.summary.setAttribute("aria-label", this.summary.title);
    this.details.classList.toggle("chosen", this.agent !== null);
    const focused = this.#focusedValue();
    this.list.replaceChildren(
      h("legend", {}, t("Who answers in this chat")),
      this.#row(null),
      ...this.agents.map((agent) => this.#row(agent)),
      ...(this.agents.length === 0
        ? [h("p", { class: "own" }, t("An agent is a prompt with tools and models of its own."))]
        : []),
      this.#manage(),
    );
    if (focused !== null)
      this.#radios()
        .find(({ value }) => value === focused)
        ?.focus();
  }

  /** @param {Agent|null} agent */
  #row(agent) {
    const radio = h("input", {
      type: "radio",
      name: "agent",
      value: agent?.id ?? "",
      checked: (agent?.id ?? null) === (this.agent?.id ?? null),
      onchange: () => this.page.choose(agent),
    });
    const about = [agent?.description, agent?.shared_by].filter(Boolean).join(" · ");
    return h(
      "label",
      {},
      radio,
      agent && agentPicture(agent),
      h("span", {}, agent?.name ?? t("No agent"), about && h("small", {}, about)),
    );
  }

  #manage() {
    const open = () => {
      this.details.open = false;
      this.page.manage();
    };
    return h("button", { type: "button", class: "quiet", onclick: open }, t("Agents…"));
  }

  #radios() {
    return [...this.list.querySelectorAll("input")];
  }

  /** Renders the rows again; the focus stays on the same one. */
  #focusedValue() {
    const focused = document.activeElement;
    return this.list.contains(focused) && focused instanceof HTMLInputElement ? focused.value : null;
  }
}
