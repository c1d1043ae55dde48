/**
 * The panel with the tree of the open session, beside the conversation or, on narrow screens, over it, until another
 * session is opened. Loaded on first use.
 */

import * as api from "../server/api.js";
import { dialog, open } from "../elements/dialogs.js";
import { h } from "../elements/element.js";
import { iconButton } from "../elements/icons.js";
import { t, language } from "../i18n.js";
import { TreeMap } from "./tree_map.js";
import { isTerminal } from "../state/answer.js";
import { readableMessage, readableText } from "../state/answer_text.js";
import { answerTo } from "../state/session_state.js";

/** @import {LiveSession} from "../server/live_session.js" */
/** @import {Place} from "./tree_layout.js" */
/** @import {Message, SessionState} from "../types.js" */

/** As in tree.css. */
const BESIDE = "(min-width: 68rem)";
const PAUSE_MS = 250;

export class TreePanel {
  /**
   * @param {object} page
   * @param {() => LiveSession|null} page.live
   * @param {(id: string) => Promise<any>} page.select  makes a message current
   * @param {(id: string) => void} page.reveal  in the conversation
   * @param {(error: any) => void} page.failed
   * @param {(isOpen: boolean) => void} page.toggled
   */
  constructor(page) {
    this.page = page;
    this.isOpen = false;
    /** @type {Pick<import("../types.js").SessionState, "session"|"branch"|"n">|null} what the map was read for */
    this.read = null;
    matchMedia(BESIDE).addEventListener("change", () => this.isOpen && this.#reopen());
  }

  open() {
    this.isOpen = true;
    this.read = null;
    this.preview = new TreePreview(() => this.page.live().state);
    this.map = new TreeMap({ looked: (place) => this.preview.show(place), chosen: (place) => this.#go(place) });
    this.#build();
    this.page.toggled(true);
    this.follow(true);
  }

  close() {
    this.isOpen = false;
    this.dialog?.close();
    this.aside?.remove();
    this.dialog = this.aside = null;
    this.page.toggled(false);
  }

  /** What is shown may have changed: another session, another branch, a new message. @param {boolean} [andFocus] */
  follow(andFocus = false) {
    const live = this.page.live();
    if (!this.isOpen) return;
    const { session, branch, n } = live?.state ?? {};
    if (!live || (this.read && session !== this.read.session)) return this.close();
    if (this.read && branch === this.read.branch && n === this.read.n) return;
    this.read = { session, branch, n };
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#read(andFocus), andFocus ? 0 : PAUSE_MS);
  }

  #reopen() {
    this.close();
    this.open();
  }

  #build() {
    const content = [this.map.element, legend(), this.preview.element];
    if (matchMedia(BESIDE).matches) {
      const away = iconButton(t("Close the tree"), "close", () => this.close());
      const head = h("header", {}, h("h2", {}, t("Tree")), away);
      this.aside = h("aside", { id: "tree", "aria-label": t("Tree of this chat") }, head, ...content);
      this.aside.addEventListener("keydown", (event) => event.key === "Escape" && this.close());
      document.body.append(this.aside);
    } else {
      const closed = () => this.isOpen && this.close();
      this.dialog = open(dialog(t("Tree of this chat"), { class: "large tree", closed }, ...content));
    }
  }

  /** @param {boolean} andFocus */
  async #read(andFocus) {
    const { session } = this.read;
    try {
      const nodes = await api.readTree(session);
      if (!this.isOpen || session !== this.read.session) return;
      this.map.show(nodes);
      if (andFocus) this.map.focus();
    } catch (error) {
      if (this.read) this.read.n = null; // read again with the next change
      this.page.failed(error);
    }
  }

  /** @param {Place} place */
  async #go({ node, isCurrent }) {
    // A summary is not part of a branch: it is shown at the last message that it covers.
    const id = node.role === "summary" ? node.last_summarized_message : node.id;
    if (!id) return;
    if (!isCurrent && !(await this.page.select(id))) return;
    if (this.dialog) this.close();
    this.page.reveal(id);
  }
}

/** The legend of the marks, for sighted users. */
function legend() {
  const row = (/** @type {string} */ look, /** @type {string} */ text) =>
    h("li", {}, h("span", { class: `mark ${look}` }), text);
  return h(
    "ul",
    { class: "tree-legend", "aria-hidden": "true" },
    row("of-user current", t("Question")),
    row("of-assistant current", t("Answer")),
    row("of-assistant failed", t("Failed")),
    row("of-summary", t("Summary")),
  );
}

const LONGEST = 400;
/** A mark that the pointer only passes over is not read. */
const PREVIEW_PAUSE_MS = 120;

/** The preview of a message on the map: author, time, beginning. Off the branch it is read, and cached once it has ended. */
class TreePreview {
  /** @param {() => SessionState} state of the session whose map it is */
  constructor(state) {
    this.state = state;
    /** @type {Map<string, string>} */
    this.texts = new Map();
    this.who = h("strong");
    this.when = h("time");
    this.text = h("p");
    this.hint = h(
      "p",
      { class: "hint" },
      matchMedia("(hover: none)").matches
        ? t("Tap a message to go there.")
        : t("Point at a message, or use the arrow keys. Enter goes there."),
    );
    this.card = h("div", { hidden: true }, h("header", {}, this.who, this.when), this.text);
    this.element = h(
      "div",
      { class: "tree-preview", tabIndex: 0, role: "group", "aria-label": t("Preview of the message") },
      this.hint,
      this.card,
    );
  }

  /** @param {Place|null} place null: at none */
  async show(place) {
    this.place = place;
    this.card.hidden = !place;
    this.hint.hidden = Boolean(place);
    if (!place) return;
    const { node } = place;
    this.who.textContent = { root: "", user: t("You"), assistant: node.model ?? t("Answer"), summary: t("Summary") }[
      node.role
    ];
    if (node.edited_from !== undefined) this.who.textContent += ` · ${t("Edited by you")}`;
    const sent = new Date(node.sent_at);
    this.when.dateTime = node.sent_at;
    this.when.textContent = sent.toLocaleString(language, { dateStyle: "medium", timeStyle: "short" });
    this.text.textContent = this.#known(place) ?? "…";
    const text = await this.#read(place);
    if (this.place === place) this.text.textContent = text;
  }

  /** @param {Place} place @returns {string|undefined} */
  #known({ node }) {
    const state = this.state();
    const { branch, summary } = state;
    if (node.role === "summary")
      return shorten(
        summary?.id === node.id ? summary.text : t("Stands for the messages above it when the model is asked."),
      );
    const message = branch?.find(({ id }) => id === node.id);
    return message ? textOf(message, answerTo(state, message)) : this.texts.get(node.id);
  }

  /** @param {Place} place */
  async #read(place) {
    const known = this.#known(place);
    if (known) return known;
    await new Promise((resolve) => setTimeout(resolve, PREVIEW_PAUSE_MS));
    if (this.place !== place) return "";
    try {
      const message = await api.readMessage(this.state().session, place.node.id);
      const text = textOf(message);
      if (isTerminal(message.status)) this.texts.set(place.node.id, text);
      return text;
    } catch {
      return t("This message cannot be read right now.");
    }
  }
}

/** @param {Message} message @param {import("../types.js").Answer} [answer]  what its run has written since it was read */
function textOf(message, answer) {
  const files = (message.files ?? []).map(({ name }) => name).join(", ");
  const text = answer ? readableText(answer) : readableMessage(message);
  return shorten(text || files || message.error?.message || t("(no text)"));
}

/** @param {string} text */
function shorten(text) {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
