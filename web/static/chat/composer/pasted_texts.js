/**
 * A draft, and the long pasted texts in it, which are shown beside the field while a message is written and joined to
 * its text when it is sent. Pure.
 */

/** @import {FileKind} from "../types.js" */

/**
 * @typedef {{id: string, name: string, size: number, kind: FileKind, isSent: boolean}} DraftFile  isSent: a message may have it
 * @typedef {{text: string, pasted: string[], files: DraftFile[]}} Draft  files: those that the server has
 */

// More than two screens: a longer text would make the field unreadable.
export const LONG_CHARACTERS = 8_000;
const PREVIEW_CHARACTERS = 80;

/** @type {Readonly<Draft>} */
export const EMPTY = Object.freeze({ text: "", pasted: [], files: [] });

/** @param {string} text */
export const isLong = (text) => text.length > LONG_CHARACTERS;

/** @param {Pick<Draft, "text"|"pasted">} draft */
export const hasText = ({ text, pasted }) => Boolean(text.trim()) || pasted.some((one) => one.trim());

/** @param {Draft} draft */
export const isEmpty = (draft) => !hasText(draft) && draft.files.length === 0;

/** The text to send: the typed text, then the pasted ones, separated by empty lines. @param {Pick<Draft, "text"|"pasted">} draft */
export function fullText({ text, pasted }) {
  return pasted.length === 0 ? text : [text.trimEnd(), ...pasted].filter((one) => one.trim()).join("\n\n");
}

/** Joins two drafts, the older first. @param {Draft} older @param {Draft} newer @returns {Draft} */
export function joinDrafts(older, newer) {
  const text = [older.text, newer.text].filter((one) => one.trim()).join("\n\n");
  const files = [...older.files, ...newer.files].filter(
    ({ id }, at, all) => all.findIndex((one) => one.id === id) === at,
  );
  return { text, pasted: [...older.pasted, ...newer.pasted], files };
}

/** The beginning of a pasted text, in one line. @param {string} text */
export function preview(text) {
  const begin = text
    .slice(0, 4 * PREVIEW_CHARACTERS)
    .trim()
    .replace(/\s+/g, " ");
  return begin.length > PREVIEW_CHARACTERS ? `${begin.slice(0, PREVIEW_CHARACTERS)}…` : begin;
}
