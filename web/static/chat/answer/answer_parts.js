/** The parts of an answer in their order: texts, timelines of tools, and the final text with its citations. */

import { citationChip } from "../markdown/citation_chip.js";
import { h, setChildren } from "../elements/element.js";
import { MarkdownView } from "../markdown/markdown.js";
import { ReasoningView } from "./reasoning_view.js";
import { StepsView } from "../tools/steps_view.js";
import { countedFromOne } from "../state/answer_text.js";
import { groupsOf, textAfter } from "../state/tool_rounds.js";
import { documentsOf } from "../tools/tool_texts.js";
import { documentCard } from "./document_card.js";
import { t, tn } from "../i18n.js";

/** @import {Answer, Round, Source} from "../types.js" */

/** Of a frame of 16 ms, for Markdown; the rest is the browser's, which lays out and paints. */
const FRAME_MS = 6;

export class AnswerParts {
  /** @param {import("../tools/call_view.js").ReadWhole} readWhole */
  constructor(readWhole) {
    this.readWhole = readWhole;
    this.reasoning = new ReasoningView();
    this.body = h("div", { class: "markdown body" });
    this.sources = new SourcesView();
    this.element = h("div", { class: "parts" });
    this.text = this.#markdown(this.body);
    /** @type {{narration: MarkdownView, steps: StepsView}[]} */
    this.groups = [];
    /** @type {{citations: Source[], rounds: Round[]}|undefined} what that was made of */
    this.cited = undefined;
    /** @type {Source[]} what is cited, with what is known of it */
    this.known = [];
    /** @type {Map<number, Source>} what tools have found */
    this.found = new Map();
  }

  /** @param {Answer} answer @param {boolean} isLive */
  show(answer, isLive) {
    const { text, reasoning, reasoningMs, rounds } = answer;
    const last = textAfter(text, rounds);
    const citations = this.#citations(answer);
    this.#showGroups(rounds, citations);
    this.reasoning.show({ text: reasoning, ms: reasoningMs, isThinking: isLive && reasoningMs === null && !last });
    this.text.show(last, { isLive, citations });
    this.sources.show(citations);
  }

  /** @param {HTMLElement} element */
  #markdown(element) {
    return new MarkdownView(element, {
      budgetMs: FRAME_MS,
      citation: (source) => citationChip(source, () => ({ ...source, ...this.found.get(source.number) })),
    });
  }

  /** The same list while nothing changes: views then have nothing to do. @param {Answer} answer @returns {Source[]} */
  #citations({ text, citations, rounds }) {
    if (citations === this.cited?.citations && rounds === this.cited.rounds) return this.known;
    this.cited = { citations, rounds };
    this.found = new Map(documentsOf(rounds.flatMap(({ calls }) => calls)).map((source) => [source.number, source]));
    const known = countedFromOne(text, citations).map((source) => ({ ...this.found.get(source.number), ...source }));
    if (JSON.stringify(known) !== JSON.stringify(this.known)) this.known = known;
    return this.known;
  }

  /** @param {Round[]} rounds @param {Source[]} citations */
  #showGroups(rounds, citations) {
    const groups = groupsOf(rounds);
    this.groups = groups.map((_, i) => this.groups[i] ?? this.#group());
    groups.forEach(({ textBefore, rounds: together }, i) => {
      this.groups[i].narration.element.hidden = !textBefore.trim();
      this.groups[i].narration.show(textBefore, { citations });
      this.groups[i].steps.show(together);
    });
    const before = this.groups.flatMap(({ narration, steps }) => [narration.element, steps.element]);
    setChildren(this.element, [...before, this.reasoning.element, this.body, this.sources.element]);
  }

  #group() {
    return {
      narration: this.#markdown(h("div", { class: "markdown narration" })),
      steps: new StepsView(this.readWhole),
    };
  }
}

/** The list of the documents that an answer cites, by number. */
class SourcesView {
  constructor() {
    /** @type {Source[]|undefined} */
    this.sources = undefined;
    this.list = h("ol", { class: "document-cards" });
    this.heading = h("h2");
    this.element = h(
      "section",
      { class: "sources", hidden: true, "aria-label": t("Sources") },
      this.heading,
      this.list,
    );
    /** @type {Map<string, HTMLElement>} by what they show, so that those that stay keep focus */
    this.cards = new Map();
  }

  /** @param {Source[]} sources with what is known of each */
  show(sources) {
    if (sources === this.sources) return;
    this.sources = sources;
    this.element.hidden = sources.length === 0;
    this.heading.textContent = tn("%(count)s source", "%(count)s sources", sources.length);
    const cards = new Map(sources.map((source) => [JSON.stringify(source), source]));
    this.cards = new Map(
      [...cards].map(([key, source]) => [key, this.cards.get(key) ?? h("li", {}, documentCard(source))]),
    );
    setChildren(this.list, [...this.cards.values()]);
  }
}
