/** Long pasted texts: beside the field while a message is written, part of its text when it is sent. Pure. */

/** @typedef {{text: string, pasted: string[]}} Draft */

// More than two screens: the field could no longer be read beside it.
export const LONG_CHARACTERS = 8_000;
const PREVIEW_CHARACTERS = 80;

/** @type {Readonly<Draft>} */
export const EMPTY = Object.freeze({ text: "", pasted: [] });

/** @param {string} text */
export const isLong = (text) => text.length > LONG_CHARACTERS;

/** @param {Draft} draft */
export const isEmpty = ({ text, pasted }) => !text.trim() && !pasted.some((one) => one.trim());

/** What is sent: what was typed, then what was pasted, parted by an empty line. @param {Draft} draft */
export function wholeText({ text, pasted }) {
  return pasted.length === 0 ? text : [text.trimEnd(), ...pasted].filter((one) => one.trim()).join("\n\n");
}

/** Both, the older first; nothing of either is lost. @param {Draft} older @param {Draft} newer @returns {Draft} */
export function joined(older, newer) {
  const text = [older.text, newer.text].filter((one) => one.trim()).join("\n\n");
  return { text, pasted: [...older.pasted, ...newer.pasted] };
}

/** How a pasted text begins, in one line. @param {string} text */
export function preview(text) {
  const begin = text.slice(0, 4 * PREVIEW_CHARACTERS).trim().replace(/\s+/g, " ");
  return begin.length > PREVIEW_CHARACTERS ? `${begin.slice(0, PREVIEW_CHARACTERS)}…` : begin;
}
