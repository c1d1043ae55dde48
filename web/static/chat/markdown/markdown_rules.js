/**
 * Renders GitHub-flavoured Markdown with formulas, citations and footnotes to HTML. Raw HTML is shown as text, except `<details>` and a few
 * tags without attributes; images become links, unless they are files on this server. The result is untrusted and must pass the sanitizer.
 */

import { Marked, Renderer, Tokenizer } from "marked";

import { characterBefore, maskPunctuation } from "./cjk_emphasis.js";
import { details } from "./details.js";
import { escaped } from "./escaped.js";
import { footnote, footnoteReference } from "./footnotes.js";
import { blockFormula, inlineFormula } from "./math_rules.js";
import { ownImage } from "./own_image.js";
import { mayCite } from "../state/citation_numbers.js";

const HARMLESS = /^<(?:br ?\/?|\/?(?:sub|sup|kbd))>$/i;

class PageRenderer extends Renderer {
  /** @override @param {any} token */
  html({ text, block }) {
    if (HARMLESS.test(text.trim())) return text;
    return block ? `<p>${escaped(text)}</p>` : escaped(text);
  }

  /** @override @param {any} token */
  image({ href, text }) {
    const own = ownImage(href, globalThis.location?.origin ?? "");
    if (own) return `<img src="${own}" alt="${escaped(text)}" loading="lazy" decoding="async">`;
    return `<a href="${escaped(href)}">${escaped(text || href)}</a>`;
  }

  /** Code whose fence is not closed is not whole: more may come. @override @param {any} token */
  code(token) {
    const html = super.code(token);
    return isClosed(token.raw) ? html : html.replace("<pre>", '<pre class="unfinished">');
  }

  /** @override @param {any} token */
  table(token) {
    return `<div class="table">${super.table(token)}</div>`;
  }
}

class PageTokenizer extends Tokenizer {
  /** @override @param {string} src @param {string} masked @param {string} before */
  emStrong(src, masked, before = "") {
    return super.emStrong(src, masked, characterBefore(src, before));
  }

  /** One `~` is a tilde: "3~4 weeks". @override @param {string} src @param {string} masked @param {string} before */
  del(src, masked, before = "") {
    return src.startsWith("~~") ? super.del(src, masked, characterBefore(src, before)) : undefined;
  }

  /** A footnote of one word is no address of a link. @override @param {string} src */
  def(src) {
    return /^ {0,3}\[\^/.test(src) ? undefined : super.def(src);
  }
}

/** `[1]` and `[[1]](url)`: places where citation chips may stand. @type {import("marked").TokenizerAndRendererExtension} */
const citation = {
  name: "citation",
  level: "inline",
  start: (src) => /\[\[?\d/.exec(src)?.index,
  tokenizer(src, tokens) {
    const found = /^\[\[(\d{1,9})\]\](?:\(([^()\s]*)\))?|^\[(\d{1,9})\](?!\(|\[(?!\[?\d))/.exec(src);
    const last = tokens.at(-1);
    const number = found?.[1] ?? found?.[3];
    if (!found || this.lexer.state.inLink || (found[3] && this.lexer.tokens.links[number])) return undefined;
    if (found[3] && last?.type !== "citation" && !mayCite(last?.raw ?? "", src)) return undefined;
    return { type: "citation", raw: found[0], number, href: found[2] };
  },
  renderer: ({ number, href }) =>
    href ? `<a class="citation" href="${escaped(href)}">[${number}]</a>` : `<span class="citation">[${number}]</span>`,
};

export const marked = new Marked({
  gfm: true,
  breaks: false,
  extensions: [blockFormula, inlineFormula, citation, footnote, footnoteReference, details],
});
marked.setOptions({ renderer: new PageRenderer(), tokenizer: new PageTokenizer() });
marked.use({ hooks: { emStrongMask: maskPunctuation } });

/** @param {string} raw of a block of code, with its fences */
function isClosed(raw) {
  const fence = /^ {0,3}(`{3,}|~{3,})/.exec(raw)?.[1];
  return fence === undefined || new RegExp(`\\n {0,3}${fence}[~\`]* *\\n*$`).test(raw);
}
