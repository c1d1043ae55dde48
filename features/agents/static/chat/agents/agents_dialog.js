/** The dialog of the user's agents: a list, and a form to create or edit one. */

import { AgentForm, NEW_AGENT } from "./agent_form.js";
import { agentPicture, readAgents } from "./agent_picker.js";
import * as api from "../server/api.js";
import { ask, dialog, open } from "../elements/dialogs.js";
import { h } from "../elements/element.js";
import { iconButton } from "../elements/icons.js";
import { showRows } from "../elements/forms.js";
import { t } from "../i18n.js";
import { refusedText } from "../settings/options_form.js";
import { readBases } from "../knowledge/knowledge_api.js";

/** @import {AgentFields} from "./agent_form.js" */
/** @typedef {AgentFields & {id: string, shared_by?: string|null, is_shared_by_name?: boolean}} Agent */

/** @param {(error: any) => void} failed */
export function openAgents(failed) {
  new AgentsDialog(failed).open();
}

class AgentsDialog {
  /** @param {(error: any) => void} failed */
  constructor(failed) {
    /** @type {(error: any) => void} */
    this.failed = failed;
    /** @type {AgentForm|null} */
    this.form = null;
    this.place = h("div", { class: "agents managed-rows" });
    this.dialog = dialog(t("Agents"), { class: "large", isKept: true }, this.place);
    this.dialog.addEventListener("cancel", (event) => this.#leave(event));
  }

  async open() {
    open(this.dialog);
    try {
      const [models, bases, groups] = await Promise.all([api.readModels(), readBases(), api.call("GET", "groups/")]);
      this.offered = { models, bases, groups: /** @type {GroupAnswer[]} */ (groups) };
      await this.#list();
    } catch (error) {
      this.dialog.close();
      this.failed(error);
    }
  }

  async #list() {
    this.form = null;
    /** @type {Agent[]} */
    const agents = await readAgents();
    const rows = agents.map((agent) => this.#row(agent));
    showRows(this.place, rows, {
      symbol: "agent",
      none: t("An agent is a prompt with tools and models of its own. Pick it in the composer."),
      create: t("New agent"),
      onCreate: () => this.#edit(null),
    });
  }

  /** @param {Agent} agent */
  #row(agent) {
    const about = agent.description || agent.prompt.trim().split("\n")[0];
    const open = () => (!agent.shared_by ? this.#edit(agent) : this.#show(agent));
    const edit = h(
      "button",
      { type: "button", class: "whole", onclick: open },
      h("strong", {}, agent.name),
      h("span", { class: "hint" }, about),
      h("span", { class: "hint" }, this.#sharing(agent)),
    );
    const picture = agentPicture(agent);
    return h("li", {}, picture, edit, this.#away(agent));
  }

  /** @param {Agent} agent */
  #away(agent) {
    if (agent.shared_by && !agent.is_shared_by_name) return null;
    const label = agent.shared_by
      ? t("Take %(name)s off your list", { name: agent.name })
      : t("Delete %(name)s", { name: agent.name });
    const remove = () => this.#remove(agent);
    return iconButton(label, agent.shared_by ? "close" : "trash", remove);
  }

  /** @param {Agent} agent */
  #sharing(agent) {
    if (agent.shared_by) return t("Shared by %(name)s", { name: agent.shared_by });
    const groups = this.offered.groups.filter(({ id }) => agent.shared_with.includes(id)).map(({ name }) => name);
    const names = [...groups, ...agent.shared_with_users];
    return names.length ? t("Shared with %(names)s", { names: names.join(", ") }) : null;
  }

  /** @param {Agent} agent of somebody else */
  #show(agent) {
    const form = new AgentForm(agent, { ...this.offered, groups: [] });
    this.form = form;
    const back = h("button", { type: "button", onclick: () => this.#back() }, t("Back"));
    this.place.replaceChildren(
      h("div", { class: "sections" }, h("p", { class: "hint" }, this.#sharing(agent)), form.element),
      h("div", { class: "row" }, back),
    );
    back.focus();
  }

  /** @param {Agent|null} agent null: a new one */
  #edit(agent) {
    const form = new AgentForm(agent ?? NEW_AGENT, this.offered);
    this.form = form;
    this.problem = h("p", { class: "problem", role: "alert", hidden: true });
    const back = h("button", { type: "button", onclick: () => this.#back() }, t("Cancel"));
    const save = h("button", { type: "submit", class: "primary" }, t("Save"));
    const fields = h("div", { class: "sections" }, agent ? null : h("h3", {}, t("New agent")), form.element);
    const onsubmit = (/** @type {Event} */ event) => this.#save(event, save);
    this.place.replaceChildren(h("form", { onsubmit }, fields, this.problem, h("div", { class: "row" }, back, save)));
    form.name.focus();
  }

  /** @param {Event} event @param {HTMLButtonElement} button */
  async #save(event, button) {
    event.preventDefault();
    const { form } = this;
    button.disabled = true;
    await this.#attempt(async () => {
      // An invalid field throws here, before anything is sent; below, if it was changed during the upload.
      if (!(await form.knowledge.send(form.value.name)))
        throw { message: t("Some files were refused. Remove them, or try again.") };
      if (this.form !== form) return form.knowledge.abandon(); // left meanwhile
      const body = { ...form.value, knowledge_bases: form.knowledge.value };
      if (form.id) await api.call("PATCH", `agents/${form.id}/`, body);
      else form.id = (await api.call("POST", "agents/", body)).id;
      form.knowledge.confirm();
      await form.invitePeople();
      this.offered.bases = form.knowledge.bases;
      await this.#list();
    });
    button.disabled = false;
  }

  /** @param {Agent} agent */
  async #remove(agent) {
    const what = h("p", {}, t("Chats with “%(name)s” go on without it.", { name: agent.name }));
    const [question, yes, path] = agent.shared_by
      ? [t("Take this agent off your list?"), t("Take off"), "share/"]
      : [t("Delete this agent?"), t("Delete"), ""];
    if (!(await ask(question, { yes }, what))) return;
    await this.#attempt(async () => {
      await api.call("DELETE", `agents/${agent.id}/${path}`);
      await this.#list();
    });
  }

  /** Escape: returns from an agent to the list, or closes the list. @param {Event} event */
  #leave(event) {
    if (!this.form || event.target !== this.dialog) return;
    event.preventDefault();
    this.#back();
  }

  async #back() {
    const isLost = this.form.isChanged && !(await ask(t("Discard the changes?"), { yes: t("Discard") }));
    if (isLost) return;
    this.form.knowledge.abandon();
    await this.#attempt(() => this.#list());
  }

  /** @param {() => Promise<void>} action */
  async #attempt(action) {
    try {
      await action();
    } catch (error) {
      if (!this.form) return this.failed(error);
      const place = /^shared_with_users\.(\d+)$/.exec(error.field ?? "");
      const whose = place && this.form.value.shared_with_users[Number(place[1])];
      this.problem.textContent = whose ? `${whose}: ${refusedText(error)}` : refusedText(error);
      this.problem.hidden = false;
    }
  }
}
