/**
 * The page's texts in the reader's language. English is in the sources; other languages come in a script that the
 * server makes of `web/locale/` and that has run before any module.
 */

/** @type {{gettext(text: string): string, ngettext(one: string, many: string, count: number): string}|undefined} */
const catalog = /** @type {any} */ (globalThis).django;

/** What dates and numbers are written in. */
export const language = globalThis.document?.documentElement.lang || "en";

/**
 * @param {string} text English, as a literal, so that it is found: `t("%(count)s of %(all)s", {count, all})`
 * @param {Record<string, string|number>} [values]
 * @returns {string}
 */
export function t(text, values) {
  return filled(catalog?.gettext(text) ?? text, values);
}

/**
 * @param {string} one English, for one @param {string} many English, for any other number
 * @param {number} count known in the texts as %(count)s
 * @param {Record<string, string|number>} [values]
 * @returns {string}
 */
export function tn(one, many, count, values) {
  const text = catalog?.ngettext(one, many, count) ?? (count === 1 ? one : many);
  return filled(text, { count: count.toLocaleString(language), ...values });
}

/** @param {string} text @param {Record<string, string|number>} [values] */
function filled(text, values) {
  if (!values) return text;
  return text.replace(/%\((\w+)\)s/g, (hole, name) => (Object.hasOwn(values, name) ? String(values[name]) : hole));
}
