/** `<details>` with a `<summary>`, as a marked extension: what is inside is Markdown. One that is not closed goes to the end. */

/** @import {TokenizerAndRendererExtension} from "marked" */

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
