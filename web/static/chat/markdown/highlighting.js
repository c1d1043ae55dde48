/** Loads the highlighter for the first code block that can use it. */

/** @import {Line} from "./plain_lines.js" */

/** Longer lines are generated, not written by people. */
const LONGEST_LINE = 2_000;

/** @typedef {{getLanguage(name: string): object|undefined, highlight(code: string, options: object): {value: string}}} Highlighter */

/** @type {Highlighter|null} */
let loaded = null;
/** @type {(html: string) => Line[]} */
let parseLines;
/** @type {Promise<void>|null} */
let loading = null;

/** Resolves when the highlighter is loaded or loading failed; without it (offline, say) code stays plain. */
export function loadHighlighter() {
  loading ??= Promise.all([import(/** @type {any} */ ("highlight")), import("./highlighted_lines.js")]).then(
    ([module, lines]) => {
      parseLines = lines.parseLines;
      loaded = module.default;
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
  if (!loaded?.getLanguage(language)) return null;
  if (code.split("\n").some((line) => line.length > LONGEST_LINE)) return null;
  return parseLines(loaded.highlight(code, { language, ignoreIllegals: true }).value);
}
