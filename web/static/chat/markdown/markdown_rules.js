/**
 * Renders GitHub-flavoured Markdown with formulas, citations and footnotes to HTML. Raw HTML is shown as text, except `<details>` and a few
 * tags without attributes; images become links, unless they are files on this server. The result is untrusted and must pass the sanitizer.
 */

import { Marked, Renderer, Tokenizer } from "marked";
import { escaped, ownImage } from "./safe_html.js";
import { footnote, footnoteReference } from "./footnotes.js";
import { mayCite } from "../state/answer_text.js";
import { OPEN } from "./unfinished_markdown.js";

/** @import {TokenizerAndRendererExtension} from "marked" */

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

/** @param {string} raw of a block of code, with its fences */
function isClosed(raw) {
  const fence = /^ {0,3}(`{3,}|~{3,})/.exec(raw)?.[1];
  return fence === undefined || new RegExp(`\\n {0,3}${fence}[~\`]* *\\n*$`).test(raw);
}

// Emphasis beside Chinese, Japanese and Korean: `是**“重要”**的` is bold, although there are no spaces by which
// CommonMark tells where emphasis begins and ends. A CJK character counts there like a space, and CJK punctuation
// like a letter. Pure.
const CJK = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\u3001-\u303f\uff01-\uffee]`;
const PUNCTUATION = String.raw`(?![*_~])[\p{P}\p{S}]`;
const IS_CJK = new RegExp(`^${CJK}`, "u");
const BESIDE = new RegExp(
  String.raw`(?<=[*~])(?=${CJK})${PUNCTUATION}|(?=${CJK})${PUNCTUATION}(?=[*~])|(?<=${CJK}[*~]{1,3})${PUNCTUATION}|${PUNCTUATION}(?=[*~]{1,3}${CJK})`,
  "gu",
);

/**
 * The text in which ends of emphasis are looked for, with a letter for the punctuation that would hide one.
 * @param {string} masked @returns {string} as long as it was
 */
const maskPunctuation = (masked) => masked.replace(BESIDE, (found) => "\u5b57".repeat(found.length));

/**
 * What stands before a run of `*` or `~`; nothing if CJK stands before or behind it, as at the beginning of a line.
 * @param {string} source begins with the run @param {string} before
 */
function characterBefore(source, before) {
  const behind = source.replace(/^(?:\*+|~+)/, "");
  return behind !== source && (IS_CJK.test(before) || IS_CJK.test(behind)) ? "" : before;
}

// `<details>` with a `<summary>`, as a marked extension: what is inside is Markdown. One that is not closed goes to
// the end.
const BEGIN =
  /^ {0,3}<details\b([^>\n]{0,100})>\s*(?:<summary>((?:(?!\n[ \t]*\n|<\/?(?:details|summary)\b)[\s\S]){0,1000})<\/summary>)?/i;
const FENCES_AND_TAGS = /(?:^|\n)[ \t>]*(`{3,}|~{3,})[^\n]*|<(\/?)details\b[^>\n]{0,100}>/gi;
/** The summary is bold by itself. */
const BOLD = /<\/?(?:b|strong|em|i)>/gi;

/** @type {TokenizerAndRendererExtension} */
export const details = {
  name: "details",
  level: "block",
  childTokens: ["summary", "tokens"],
  start: (src) => /\n {0,3}<details\b/i.exec(src)?.index,
  tokenizer(src) {
    const begin = BEGIN.exec(src);
    if (!begin) return undefined;
    const { inner, end } = closing(src, begin[0].length);
    /** @type {any} */
    const token = {
      type: "details",
      raw: src.slice(0, end),
      isOpen: /\bopen\b/i.test(begin[1]),
      summary: [],
      tokens: [],
    };
    if (begin[2] !== undefined) this.lexer.inline(begin[2].replace(BOLD, "").trim(), token.summary);
    this.lexer.blockTokens(src.slice(begin[0].length, inner).replace(/^[ \t]*\n+/, ""), token.tokens);
    return token;
  },
  renderer({ isOpen, summary, tokens }) {
    const head = summary.length > 0 ? `<summary>${this.parser.parseInline(summary)}</summary>` : "";
    return `<details${isOpen ? " open" : ""}>${head}${this.parser.parse(tokens)}</details>\n`;
  },
};

/** Where it is closed: the ends of what is inside and of its tag. @param {string} src @param {number} from */
function closing(src, from) {
  let depth = 1;
  let fence = "";
  FENCES_AND_TAGS.lastIndex = from;
  for (let found = FENCES_AND_TAGS.exec(src); found; found = FENCES_AND_TAGS.exec(src)) {
    const [tag, mark, slash] = found;
    if (mark && !fence) fence = mark;
    else if (mark?.startsWith(fence)) fence = "";
    else if (!mark && !fence && (depth += slash ? -1 : 1) === 0) {
      const rest = /^[ \t]*\n?/.exec(src.slice(found.index + tag.length))[0];
      return { inner: found.index, end: found.index + tag.length + rest.length };
    }
  }
  return { inner: src.length, end: src.length };
}

// Formulas in Markdown: `$…$`, `$$…$$`, `\(…\)`, `\[…\]` and bare environments, as marked extensions. They produce an
// element with the TeX as its text, which formula.js typesets. A dollar sign of an amount stays text.
const BODY = String.raw`(?:(?!\n[ \t]*\n)[\s\S])+?`;
/** What brackets hold that are not merely escaped: a command, an index, an operator. */
const IN_BRACKETS = String.raw`(?:(?!\n[ \t]*\n|\\\])[\s\S])*?(?:\\[^\]]|[\^_=]|\s[-+*/<>]\s)(?:(?!\n[ \t]*\n)[\s\S])*?`;
const BLOCK = new RegExp(
  String.raw`^ {0,3}(?:\$\$(${BODY})\$\$|\\\[(${BODY})\\\]|(\\begin\{([a-z]+\*?)\}${BODY}\\end\{\4\}))[ \t]*(?:\n|$)`,
);
const BLOCK_BEGINS = /\n {0,3}(?:\$\$|\\\[|\\begin\{)/;
const DISPLAYED = new RegExp(String.raw`^(?:\$\$((?:\\[\s\S]|[^\\$])+?)\$\$|\\\[(?=${IN_BRACKETS}\\\])(${BODY})\\\])`);
const INLINE = new RegExp(
  String.raw`^(?:\$(?![\s$])((?:\\[^\n]|[^\\$\n])*?(?:\\[^\n]|[^\s\\$]))\$(?![\w$])|\\\((${BODY})\\\))`,
);
const MONEY = /^\d[^\\^_={}]*\s[a-z]{2,}/i;

/** @param {string[]} found a match whose groups hold the TeX @param {boolean} isDisplayed */
const formula = (found, isDisplayed) => ({
  type: "formula",
  raw: found[0],
  tex: found.slice(1).find(Boolean),
  isDisplayed,
});

/** @type {import("marked").TokenizerAndRendererExtension} */
const blockFormula = {
  name: "block_formula",
  level: "block",
  start: (src) => BLOCK_BEGINS.exec(src)?.index,
  tokenizer(src) {
    const found = BLOCK.exec(src);
    return found ? { ...formula(found.slice(0, 4), true), type: "block_formula" } : undefined;
  },
  renderer: ({ tex }) => `<div class="math display${openClass(tex)}">${escapedTex(tex)}</div>`,
};

/** @type {import("marked").TokenizerAndRendererExtension} */
const inlineFormula = {
  name: "formula",
  level: "inline",
  start: (src) => /\$|\\[([]/.exec(src)?.index,
  tokenizer(src) {
    const displayed = DISPLAYED.exec(src);
    if (displayed) return formula(displayed, true);
    const found = INLINE.exec(src);
    return found && !MONEY.test(found[1] ?? "") ? formula(found, false) : undefined;
  },
  renderer: ({ tex, isDisplayed }) =>
    `<span class="math${isDisplayed ? " display" : ""}${openClass(tex)}">${escapedTex(tex)}</span>`,
};

/** @param {string} tex */
const openClass = (tex) => (tex.includes(OPEN) ? " open" : "");

/** @param {string} tex */
const escapedTex = (tex) =>
  tex
    .replace(OPEN, "")
    .trim()
    .replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

export const marked = new Marked({
  gfm: true,
  breaks: false,
  extensions: [blockFormula, inlineFormula, citation, footnote, footnoteReference, details],
});
marked.setOptions({ renderer: new PageRenderer(), tokenizer: new PageTokenizer() });
marked.use({ hooks: { emStrongMask: maskPunctuation } });
