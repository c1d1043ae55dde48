/**
 * Translates the page's texts. The sources contain English; other languages come in a script that the
 * server generates from `web/locale/` and that runs before any module.
 */

/** @type {{gettext(text: string): string, ngettext(one: string, many: string, count: number): string}|undefined} */
const catalog = /** @type {any} */ (globalThis).django;

/** The language of dates and numbers. */
export const language = globalThis.document?.documentElement.lang || "en";

/** Whether lines begin at the right. */
export const isMirrored = () => globalThis.document?.documentElement.dir === "rtl";

/** The keys that point back and forward along a line. */
export const sideKeys = () => (isMirrored() ? ["ArrowRight", "ArrowLeft"] : ["ArrowLeft", "ArrowRight"]);

/**
 * @param {string} text English, as a literal, so that extraction finds it: `t("%(count)s of %(all)s", {count, all})`
 * @param {Record<string, string|number>} [values]
 * @returns {string}
 */
export function t(text, values) {
  return fillIn(catalog?.gettext(text) ?? text, values);
}

/**
 * @param {string} one English, for one @param {string} many English, for any other number
 * @param {number} count available in the texts as %(count)s
 * @param {Record<string, string|number>} [values]
 * @returns {string}
 */
export function tn(one, many, count, values) {
  const text = catalog?.ngettext(one, many, count) ?? (count === 1 ? one : many);
  return fillIn(text, { count: count.toLocaleString(language), ...values });
}

const PLACEHOLDER = /%\((\w+)\)s/g;

/** The first of these texts whose placeholders all have a value, filled in. @param {string[]} texts translated @param {Record<string, any>} values */
export function firstFilled(texts, values) {
  const text = texts.find((text) => [...text.matchAll(PLACEHOLDER)].every(([, name]) => values[name]));
  return fillIn(text ?? "", values);
}

/** @param {string} text @param {Record<string, string|number>} [values] */
function fillIn(text, values) {
  if (!values) return text;
  return text.replace(PLACEHOLDER, (hole, name) => (Object.hasOwn(values, name) ? String(values[name]) : hole));
}
