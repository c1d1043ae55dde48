/**
 * Shows a growing Markdown text. The text is untrusted: raw HTML is shown as text, images become links unless they are
 * files on this server, and everything passes the sanitizer. Only changed nodes of changed blocks are updated, so the cost of a frame depends on the
 * paragraph being written, not on the whole text; where several blocks have arrived, a live view leaves some to the next frames.
 */

import { GrowingTokens } from "./growing_tokens.js";
import { marked } from "./markdown_rules.js";
import { patchNodes } from "../elements/patch.js";
import { EmbeddedViews } from "./embedded_views.js";
import { sanitize } from "./sanitizer.js";
import { directionOf } from "../elements/visible_text.js";

/** @import {Source} from "../types.js" */
/** @import {Token} from "marked" */
/** @typedef {{raw: string, html: string, nodes: ChildNode[]}} Block */

/** @type {Source[]} */
const NONE = [];
/** Blocks that are read in the direction of their text, lists, quotes and tables as a whole; code and formulas are not. */
const TEXTS = "p, h1, h2, h3, h4, h5, h6, ul, ol, blockquote, details, .footnote, .table";
const NO_PROSE = "pre, code, kbd, .math";

export class MarkdownView {
  /**
   * @param {HTMLElement} element emptied and owned by this view
   * @param {{citation?: (source: Source) => HTMLElement, breaks?: boolean, budgetMs?: number}} [more] citation: the chip that stands for a cited
   *   source; breaks: every line break is kept, as people mean them; budgetMs: of a frame, while the text is live. A block that has
   *   begun is drawn whole
   */
  constructor(element, { citation, breaks = false, budgetMs = Infinity } = {}) {
    this.element = element;
    this.budgetMs = budgetMs;
    /** Blocks that are left to the next frame, by their place. @type {Map<number, Token>} */
    this.waiting = new Map();
    this.frame = 0;
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
    const mustDraw = mustRedraw || areNewCitations;
    for (const place of this.waiting.keys()) if (place >= from) this.waiting.delete(place);
    if (mustDraw) this.#drawWaiting(Infinity, false);
    tokens.forEach((token, i) => this.waiting.set(from + i, token));
    this.#drawWaiting(isLive && !mustDraw ? this.budgetMs : Infinity, mustDraw);
    for (const block of this.blocks.splice(from + tokens.length)) block.nodes.forEach((node) => node.remove());
  }

  /** Draws in order. @param {number} budgetMs @param {boolean} mustRedraw */
  #drawWaiting(budgetMs, mustRedraw) {
    cancelAnimationFrame(this.frame);
    const begin = performance.now();
    for (const [place, token] of this.waiting) {
      this.waiting.delete(place);
      const isDrawn = this.#showBlock(place, token, mustRedraw);
      if (isDrawn && this.waiting.size > 0 && performance.now() - begin >= budgetMs) {
        this.frame = requestAnimationFrame(() => this.#drawWaiting(budgetMs, mustRedraw));
        return;
      }
    }
  }

  /** @param {number} until */
  #redrawCitations(until) {
    for (const [i, { html }] of this.blocks.slice(0, until).entries())
      if (html.includes('class="citation"')) this.#draw(i, html);
  }

  /** @param {number} i @param {Token} token @param {boolean} mustRedraw draw even if the text is unchanged @returns {boolean} whether anything was to draw */
  #showBlock(i, token, mustRedraw) {
    const raw = `${token.type} ${"hasWritten" in token} ${token.raw}`;
    this.blocks[i] ??= { raw: "", html: "", nodes: [] };
    const block = this.blocks[i];
    if (raw === block.raw && !mustRedraw) return false;
    block.raw = raw;
    const html = marked.parser([/** @type {any} */ (token)]);
    if (html === block.html && !mustRedraw) return false;
    this.#draw(i, html);
    return true;
  }

  /** @param {number} i @param {string} html */
  #draw(i, html) {
    const block = this.blocks[i];
    const before = this.blocks.slice(i + 1).find(({ nodes }) => nodes.length)?.nodes[0] ?? null;
    block.html = html;
    const nodes = [...sanitize(html).childNodes];
    for (const node of nodes)
      if (node instanceof HTMLElement && node.matches(TEXTS))
        node.dir = directionOf(proseOf(node)) ?? this.#directionBefore(i);
    block.nodes = patchNodes({ parent: this.element, nodes: block.nodes, before }, nodes, this.views);
  }

  /** Of the block above, for one without letters. @param {number} i */
  #directionBefore(i) {
    const above = this.blocks
      .slice(0, i)
      .flatMap(({ nodes }) => nodes)
      .findLast((node) => node instanceof HTMLElement && node.dir);
    return above instanceof HTMLElement ? above.dir : "auto";
  }
}

/** The text of a node without code and formulas. @param {Node} node @returns {string} */
function proseOf(node) {
  if (node instanceof Element && node.matches(NO_PROSE)) return "";
  return node instanceof Text ? node.data : [...node.childNodes].map(proseOf).join(" ");
}

/** Compares by value: sources that are read again are new objects. @param {Source[]} one @param {Source[]} other */
function isSame(one, other) {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}
