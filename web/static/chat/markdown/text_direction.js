/** In which direction a text is read: by most of its letters, since many right-to-left sentences begin with a Latin name. Pure. */

const LETTER = /\p{L}/gu;
const RIGHT_TO_LEFT =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/gu;
/** Of the letters: technical prose in Arabic is often half Latin, and English prose quotes a word at a time. */
const LEAST_SHARE = 0.3;
/** More would cost each frame of a long block, and say nothing new. */
const MOST_CHARACTERS = 2_000;

/** @param {string} text @returns {"rtl"|"ltr"|null} null: it has no letters */
export function directionOf(text) {
  const begin = text.slice(0, MOST_CHARACTERS);
  const letters = count(begin, LETTER);
  if (letters === 0) return null;
  return count(begin, RIGHT_TO_LEFT) >= letters * LEAST_SHARE ? "rtl" : "ltr";
}

/** @param {string} text @param {RegExp} kind */
const count = (text, kind) => text.match(kind)?.length ?? 0;
