/** Long pasted texts: shown beside the field while a message is written, joined to its text when it is sent. Pure. */

/** @typedef {{text: string, pasted: string[]}} Draft */

// More than two screens: a longer text would make the field unreadable.
export const LONG_CHARACTERS = 8_000;
const PREVIEW_CHARACTERS = 80;

/** @type {Readonly<Draft>} */
export const EMPTY = Object.freeze({ text: "", pasted: [] });

/** @param {string} text */
export const isLong = (text) => text.length > LONG_CHARACTERS;

/** @param {Draft} draft */
export const isEmpty = ({ text, pasted }) => !text.trim() && !pasted.some((one) => one.trim());

/** The text to send: the typed text, then the pasted ones, separated by empty lines. @param {Draft} draft */
export function fullText({ text, pasted }) {
  return pasted.length === 0 ? text : [text.trimEnd(), ...pasted].filter((one) => one.trim()).join("\n\n");
}

/** Joins two drafts, the older first. @param {Draft} older @param {Draft} newer @returns {Draft} */
export function joinDrafts(older, newer) {
  const text = [older.text, newer.text].filter((one) => one.trim()).join("\n\n");
  return { text, pasted: [...older.pasted, ...newer.pasted] };
}

/** The beginning of a pasted text, in one line. @param {string} text */
export function preview(text) {
  const begin = text.slice(0, 4 * PREVIEW_CHARACTERS).trim().replace(/\s+/g, " ");
  return begin.length > PREVIEW_CHARACTERS ? `${begin.slice(0, PREVIEW_CHARACTERS)}…` : begin;
}
