/**
 * Emphasis beside Chinese, Japanese and Korean: `是**“重要”**的` is bold, although there are no spaces by which CommonMark tells
 * where emphasis begins and ends. A CJK character counts there like a space, and CJK punctuation like a letter. Pure.
 */

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
export const maskPunctuation = (masked) => masked.replace(BESIDE, (found) => "\u5b57".repeat(found.length));

/**
 * What stands before a run of `*` or `~`; nothing if CJK stands before or behind it, as at the beginning of a line.
 * @param {string} source begins with the run @param {string} before
 */
export function characterBefore(source, before) {
  const behind = source.replace(/^(?:\*+|~+)/, "");
  return behind !== source && (IS_CJK.test(before) || IS_CJK.test(behind)) ? "" : before;
}
