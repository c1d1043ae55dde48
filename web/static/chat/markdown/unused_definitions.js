/**
 * Definitions of links that nothing refers to (`[1]: https://…`) are text: Markdown would hide them. Pure.
 */

/** @import {Token} from "marked" */

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
export function showUnused(tokens, source, inline) {
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
