/**
 * Splits a growing text into blocks incrementally. Only its end is parsed again: blocks before the last two cannot
 * change by what follows, except by link definitions, after which the whole text is parsed again.
 */

import { footnoteLabels, showUndefined } from "./footnotes.js";
import { marked } from "./markdown_rules.js";
import { completeMarkdown } from "./unfinished_markdown.js";

/** @import {Token, Links} from "marked" */

export class GrowingTokens {
  /** @param {{breaks?: boolean}} [options] breaks: every line break is kept */
  constructor({ breaks = false } = {}) {
    this.options = breaks ? { ...marked.defaults, breaks } : marked.defaults;
    /** All definitions of the newest reading; replaced whenever they change. @type {Links} */
    this.links = {};
    /** The labels of the notes in the newest reading. @type {Set<string>} */
    this.footnotes = new Set();
    this.#startOver();
  }

  /**
   * @param {string} text the whole text so far
   * @param {boolean} isLive whether more will follow
   * @returns {{from: number, tokens: Token[]}} the first `from` blocks are unchanged; `tokens` follow them
   */
  read(text, isLive) {
    const source = text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
    // Whether a definition is used is known at the end of the text; one that is settled may be shown by then.
    if (!source.startsWith(this.settled) || (!isLive && this.hasSettledDefinition)) this.#startOver();
    this.#readFootnotes(source, isLive);
    const { tokens, links } = this.#lex(source, isLive);
    if (JSON.stringify(links) === JSON.stringify(this.links)) return this.#settle(tokens, source);
    this.links = links;
    if (this.count === 0) return this.#settle(tokens, source);
    this.#startOver();
    return this.#settle(this.#lex(source, isLive).tokens, source);
  }

  /** A note that is new, and the end of the text, decide on what stands above. @param {string} source @param {boolean} isLive */
  #readFootnotes(source, isLive) {
    const before = [...this.footnotes].join();
    this.footnotes = footnoteLabels(source);
    if (this.settled.includes("[^") && (!isLive || before !== [...this.footnotes].join())) this.#startOver();
  }

  /** @param {string} source @param {boolean} isLive */
  #lex(source, isLive) {
    const tail = source.slice(this.settled.length);
    const lexer = new marked.Lexer(this.options);
    Object.assign(lexer.tokens.links, this.settledLinks);
    const tokens = lexed(lexer, isLive ? completeMarkdown(tail) : tail);
    const links = { ...tokens.links };
    showUndefined(tokens, this.footnotes, isLive, (list, visit) => marked.walkTokens(list, visit));
    if (!isLive) showUnused(tokens, source, (line) => new marked.Lexer(this.options).inlineTokens(line));
    return { tokens, links };
  }

  /** Drops the source of blocks that are final. @param {Token[]} tokens @param {string} source */
  #settle(tokens, source) {
    const from = this.count;
    const solid = tokens.map(({ type }, i) => (type === "space" ? -1 : i)).filter((i) => i !== -1);
    const done = tokens.slice(0, solid.at(-2) ?? 0);
    const raw = done.map((token) => token.raw).join("");
    if (done.length > 0 && source.startsWith(raw, this.settled.length)) {
      this.settled += raw;
      this.count += done.length;
      for (const token of done) if (token.type === "def") this.settledLinks[token.tag] ??= this.links[token.tag];
      this.hasSettledDefinition = Object.keys(this.links).length > 0;
    }
    return { from, tokens };
  }

  #startOver() {
    this.settled = "";
    this.hasSettledDefinition = false;
    this.count = 0;
    /** @type {Links} */
    this.settledLinks = {};
  }
}

/** @param {InstanceType<typeof marked.Lexer>} lexer @param {string} text @returns {import("marked").TokensList} */
function lexed(lexer, text) {
  try {
    return lexer.lex(text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // Quotes or lists inside each other, so deep that they overflow the stack: shown as they are written.
    /** @type {Token} */
    const paragraph = {
      type: "paragraph",
      raw: text,
      text,
      tokens: [{ type: "text", raw: text, text, escaped: false }],
    };
    return Object.assign([paragraph], { links: {} });
  }
}

// Definitions of links that nothing refers to (`[1]: https://…`) are text: Markdown would hide them. Pure.

/** @param {string} label */
const normal = (label) => label.toLowerCase().replace(/\s+/g, " ").trim();

/** How often each label stands in brackets. @param {string} source @returns {Map<string, number>} */
function labels(source) {
  const counts = new Map();
  for (const [, label] of source.matchAll(/\[((?:\\.|[^[\]\\]){1,999})\]/g))
    counts.set(normal(label), (counts.get(normal(label)) ?? 0) + 1);
  return counts;
}

/** @param {any} token @returns {any[][]} the lists of blocks within it */
const within = (token) => [
  ...(token.type === "blockquote" ? [token.tokens] : []),
  ...(token.items ?? []).map((/** @type {any} */ item) => item.tokens),
];

/** Calls `change` for each definition, also for those in lists and quotations. @param {any[]} tokens @param {(tokens: any[], i: number) => void} change */
function forDefinitions(tokens, change) {
  tokens.forEach((token, i) => {
    if (token.type === "def") change(tokens, i);
    else for (const inner of within(token)) forDefinitions(inner, change);
  });
}

/**
 * Makes paragraphs of the definitions that the source does not use.
 * @param {Token[]} tokens changed in place @param {string} source the whole text @param {(text: string) => Token[]} inline reads a line
 */
function showUnused(tokens, source, inline) {
  /** @type {Map<string, number>} */
  const defined = new Map();
  forDefinitions(tokens, (list, i) => defined.set(list[i].tag, (defined.get(list[i].tag) ?? 0) + 1));
  if (defined.size === 0) return;
  const used = labels(source);
  forDefinitions(tokens, (list, i) => {
    const { tag, raw } = list[i];
    if ((used.get(tag) ?? 0) > defined.get(tag)) return;
    const text = raw.trim();
    list[i] = { type: "paragraph", raw, text, tokens: inline(text) };
  });
}
