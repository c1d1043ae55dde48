/** The tools, the prompt and the run options of the open chat, of the next new one, or of the next message alone. */

import { changeSession, readSession } from "../server/api.js";
import { readAddress } from "../frame/address.js";
import { t } from "../i18n.js";

/** @import {Agent, Model, Session} from "../types.js" */

/** What the dialog sets of every turn of a chat. @type {Pick<SessionAnswer, "tools"|"prompt"|"options">} */
const NO_OPTIONS = { tools: [], prompt: "", options: {} };
/** @typedef {typeof NO_OPTIONS} ChatOptions */

export class ChatOptionsButton {
  /**
   * @param {HTMLButtonElement} button
   * @param {object} page
   * @param {() => Session|undefined} page.session
   * @param {() => boolean} page.isNew
   * @param {() => Agent|null} page.agent
   * @param {() => Model[]} page.models  that answer next
   * @param {(id: string, fields: Partial<Session>) => void} page.assume
   * @param {(action: () => Promise<any>) => Promise<boolean>} page.attempt
   * @param {() => void} page.changed
   */
  constructor(button, page) {
    this.button = button;
    this.page = page;
    /** Those of the next new chat. */
    this.forNew = NO_OPTIONS;
    /** Those of the next message, in which null takes away what the chat has. @type {{session: string|null, options: OptionsBody}|null} */
    this.next = null;
    button.addEventListener("click", () => page.attempt(() => this.#open()));
  }

  /** Called when another chat is open, or its options changed. */
  show() {
    if (!this.page.isNew()) this.forNew = NO_OPTIONS;
    if (this.next && this.next.session !== openedId()) this.next = null;
    const state = this.next ? t("set for the next message") : this.#isSet ? t("set for this chat") : "";
    this.button.classList.toggle("chosen", state !== "");
    this.button.title = state ? t("Options: %(state)s", { state }) : t("Options");
    this.button.setAttribute("aria-label", this.button.title);
  }

  /** Sets the tools of the next new chat. @param {string[]} tools */
  beginWith(tools) {
    this.forNew = { ...this.forNew, tools };
  }

  /** The session's own tools. @returns {string[]} */
  get tools() {
    return (this.page.isNew() ? this.forNew.tools : this.page.session()?.tools) ?? [];
  }

  /** The members of the request that creates the next new chat. @returns {Partial<ChatOptions>} */
  get ofNewChat() {
    return layerOver(NO_OPTIONS, this.forNew);
  }

  /** The options of the next message; null: those of the chat. */
  get ofNextMessage() {
    return this.next?.options ?? null;
  }

  /** Sets those of the next message in the chat that is open now. @param {OptionsBody|null} options */
  sendNextWith(options) {
    this.next = options && { session: openedId(), options };
    this.show();
  }

  get #isSet() {
    if (this.page.isNew()) return Object.keys(this.ofNewChat).length > 0;
    const session = this.page.session();
    // Frames lack the long ones, of which `has_options` says whether there are any.
    const { prompt: _prompt, options: _options, ...short } = layerOver(NO_OPTIONS, { ...NO_OPTIONS, ...session });
    return Boolean(session?.has_options) || Object.keys(short).some((name) => name in NO_OPTIONS);
  }

  async #open() {
    // Another tab or program may have changed them.
    const id = openedId();
    const session = id && (await readSession(id));
    const { openOptions } = await import("../settings/options_form.js");
    const chat = session ?? this.forNew;
    const agent = this.page.agent();
    const ofAgent = agent?.options ?? {};
    const options = merged(ofAgent, chat.options);
    openOptions({
      chat: { ...chat, options },
      next: this.next && merged(options, this.next.options),
      agent,
      models: this.page.models(),
      save: (given) => this.#save(session, { ...given, options: layerOver(ofAgent, given.options) }),
      sendNextWith: (wanted) => this.sendNextWith(wanted && layerOver(options, wanted)),
    });
  }

  /** @param {Session|null} session @param {ChatOptions} given */
  async #save(session, given) {
    if (session) {
      this.page.assume(session.id, await changeSession(session.id, given));
    } else this.forNew = given;
    this.page.changed();
  }
}

/** Its row may not be loaded yet. @returns {string|null} */
const openedId = () => readAddress(location.hash).session;

// Layers of run options: a message's over its chat's over its agent's. Null as a value: the model's own. Pure.

/** What holds, without nulls. @param {any[]} layers  each over those before it @returns {OptionsBody} */
export const merged = (...layers) =>
  Object.fromEntries(Object.entries(Object.assign({}, ...layers)).filter(([, value]) => value !== null));

/**
 * The layer that turns what holds below it into `wanted`.
 * @param {Record<string, any>} below
 * @param {Record<string, any>} wanted
 * @returns {any} may have nulls
 */
export function layerOver(below, wanted) {
  const own = Object.entries(wanted).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(below[name]));
  const taken = Object.keys(below).filter((name) => !(name in wanted));
  return Object.fromEntries([...own, ...taken.map((name) => [name, null])]);
}
