/** The one spelling in which texts are searched, as in knowledge/texts/searched_text.py: both pass tests/knowledge/texts/normal_forms.json. */

/** Thai to Khmer, kana, and Chinese characters: no spaces between words. */
const CHARACTERS =
  "\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff\\u3005-\\u3007\\u3040-\\u30ff\\u3400-\\u9fff\\uf900-\\ufaff\\u{20000}-\\u{3ffff}";
export const UNSPACED = new RegExp(`[${CHARACTERS}]`, "u");
const HANGUL = "\\uac00-\\ud7a3";
/** Where a word may begin: Latin words stand inside of others, and Hangul is also found by every two characters. */
export const WORD_START = `(?:(?<![\\p{L}\\p{N}_])|(?<=[${CHARACTERS}${HANGUL}])|(?=[${HANGUL}]))`;
/** What may become one character: letters with their marks, parts of Hangul, kana of half width with their voice mark. */
const CLUSTER = /[\u1100-\u11ff]+|[^][\p{M}\uff9e\uff9f]*/gu;

/** NFKC and case fold. @param {string} text @returns {string} */
export function normalForm(text) {
  return text.normalize("NFKC").replaceAll("İ", "i").toLowerCase().replaceAll("ß", "ss").replaceAll("ς", "σ");
}

/**
 * The normal form, and for each of its code units, and its end, where the character that it comes from begins and ends.
 * @param {string} text @returns {{form: string, starts: number[], ends: number[]}}
 */
export function normalFormWithPlaces(text) {
  /** @type {number[]} */
  const starts = [];
  /** @type {number[]} */
  const ends = [];
  let form = "";
  for (const { 0: cluster, index } of text.matchAll(CLUSTER)) {
    const part = normalForm(cluster);
    form += part;
    for (let at = 0; at < part.length; at++) {
      starts.push(index);
      ends.push(index + cluster.length);
    }
  }
  return { form, starts, ends };
}
