/** The highlighter, loaded with the first code block that can use it. */

import { linesOf } from "./highlighted_lines.js";

/** @typedef {import("./highlighted_lines.js").Line} Line */

/** A line longer than that was made by a program, for a program. */
const LONGEST_LINE = 2_000;

/** @typedef {{getLanguage(name: string): object|undefined, highlight(code: string, options: object): {value: string}}} Highlighter */

/** @type {Highlighter|null} */
let loaded = null;
/** @type {Promise<void>|null} */
let loading = null;

/** Resolves when `highlighted` can answer, or never will: without the module (offline, say) code stays plain. */
export function loadHighlighter() {
  loading ??= import(/** @type {any} */ ("highlight")).then(
    (module) => {
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
 * @returns {Line[]|null} null: nobody knows how
 */
export function highlighted(code, language) {
  if (!loaded?.getLanguage(language)) return null;
  if (code.split("\n").some((line) => line.length > LONGEST_LINE)) return null;
  return linesOf(loaded.highlight(code, { language, ignoreIllegals: true }).value);
}
