/** Loads the highlighter for the first code block that can use it. */

/** @import {Line} from "./plain_lines.js" */

/** Longer lines are generated, not written by people. */
const LONGEST_LINE = 2_000;

/** @type {typeof import("./highlighter.js")|null} */
let loaded = null;
/** @type {(html: string) => Line[]} */
let parseLines;
/** @type {Promise<void>|null} */
let loading = null;

/** Resolves when the highlighter is loaded or loading failed; without it (offline, say) code stays plain. */
export function loadHighlighter() {
  loading ??= Promise.all([import("./highlighter.js"), import("./highlighted_lines.js")]).then(
    ([module, lines]) => {
      parseLines = lines.parseLines;
      loaded = module;
    },
    () => {
      loading = null;
    },
  );
  return loading;
}

export const isHighlighterLoaded = () => loaded !== null;

/**
 * @param {string} code
 * @param {string} language as it was written after the fence
 * @returns {Line[]|null} null: the language is not supported
 */
export function highlight(code, language) {
  if (!loaded?.prepare(language)) return null;
  if (code.split("\n").some((line) => line.length > LONGEST_LINE)) return null;
  return parseLines(loaded.highlightCode(code, language));
}
