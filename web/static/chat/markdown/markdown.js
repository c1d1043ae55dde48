/**
 * Shows a growing Markdown text. The text is untrusted: raw HTML is shown as text, images become links unless they are
 * files on this server, and everything passes the sanitizer. Only changed nodes of changed blocks are updated, so the cost of a frame depends on the
 * paragraph being written, not on the whole text.
 */

import { GrowingTokens } from "./growing_tokens.js";
import { marked } from "./markdown_rules.js";
import { patchNodes } from "../elements/patch.js";
import { EmbeddedViews } from "./embedded_views.js";
import { sanitize } from "./sanitizer.js";

/** @import {Source} from "../types.js" */
/** @typedef {{raw: string, html: string, nodes: ChildNode[]}} Block */

/** @type {Source[]} */
const NONE = [];

export class MarkdownView {
  /**
   * @param {HTMLElement} element emptied and owned by this view
   * @param {{citation?: (source: Source) => HTMLElement, breaks?: boolean}} [more] citation: the chip that stands for a cited
   *   source; breaks: every line break is kept, as people mean them
   */
  constructor(element, { citation, breaks = false } = {}) {
    this.element = element;
    this.views = new EmbeddedViews(citation);
    this.growing = new GrowingTokens({ breaks });
    /** @type {Block[]} */
    this.blocks = [];
    /** @type {string|undefined} */
    this.text = undefined;
    this.isLive = false;
    this.links = this.growing.links;
  }

  /**
   * @param {string} text the whole text so far
   * @param {{isLive?: boolean, citations?: Source[]}} [more] isLive: more text will follow, so markup whose kind is
   *   undecided is held back; citations: what `[1]` stands for
   */
  show(text, { isLive = false, citations = NONE } = {}) {
    const areNewCitations = !isSame(citations, this.views.citations);
    if (text === this.text && isLive === this.isLive && !areNewCitations) return;
    [this.text, this.isLive, this.views.citations] = [text, isLive, citations];
    const { from, tokens } = this.growing.read(text, isLive);
    const mustRedraw = this.growing.links !== this.links;
    this.links = this.growing.links;
    if (areNewCitations) this.#redrawCitations(from);
    tokens.forEach((token, i) => this.#showBlock(from + i, token, mustRedraw || areNewCitations));
    for (const block of this.blocks.splice(from + tokens.length)) block.nodes.forEach((node) => node.remove());
  }

  /** @param {number} until */
  #redrawCitations(until) {
    for (const [i, { html }] of this.blocks.slice(0, until).entries()) if (html.includes('class="citation"')) this.#draw(i, html);
  }

  /** @param {number} i @param {{type: string, raw: string}} token @param {boolean} mustRedraw draw even if the text is unchanged */
  #showBlock(i, token, mustRedraw) {
    const raw = token.type + token.raw;
    this.blocks[i] ??= { raw: "", html: "", nodes: [] };
    const block = this.blocks[i];
    if (raw === block.raw && !mustRedraw) return;
    block.raw = raw;
    const html = marked.parser([/** @type {any} */ (token)]);
    if (html !== block.html || mustRedraw) this.#draw(i, html);
  }

  /** @param {number} i @param {string} html */
  #draw(i, html) {
    const block = this.blocks[i];
    const before = this.blocks.slice(i + 1).find(({ nodes }) => nodes.length)?.nodes[0] ?? null;
    block.html = html;
    block.nodes = patchNodes({ parent: this.element, nodes: block.nodes, before }, [...sanitize(html).childNodes], this.views);
  }
}

/** Compares by value: sources that are read again are new objects. @param {Source[]} one @param {Source[]} other */
function isSame(one, other) {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}
