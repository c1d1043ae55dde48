/** The preview of a message on the map: author, time, beginning. Read when first shown, and cached. */

import * as api from "../server/api.js";
import { h } from "../elements/element.js";
import { language, t } from "../i18n.js";
import { readableMessage } from "../state/answer_text.js";

/** @import {Message, SessionState} from "../types.js" */
/** @import {Place} from "./tree_layout.js" */

const LONGEST = 400;
/** A mark that the pointer only passes over is not read. */
const PAUSE_MS = 120;

export class TreePreview {
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
    const { branch, summary } = this.state();
    if (node.role === "summary")
      return shorten(
        summary?.id === node.id ? summary.text : t("Stands for the messages above it when the model is asked."),
      );
    const message = branch?.find(({ id }) => id === node.id);
    return this.texts.get(node.id) ?? (message && textOf(message));
  }

  /** @param {Place} place */
  async #read(place) {
    const known = this.#known(place);
    if (known) return known;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    if (this.place !== place) return "";
    try {
      const text = textOf(await api.readMessage(this.state().session, place.node.id));
      this.texts.set(place.node.id, text);
      return text;
    } catch {
      return t("This message cannot be read right now.");
    }
  }
}

/** @param {Message} message */
function textOf(message) {
  return shorten(readableMessage(message) || message.error?.message || t("(no text)"));
}

/** @param {string} text */
function shorten(text) {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
