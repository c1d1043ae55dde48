/**
 * Shows texts of others where people decide by reading them: characters that nobody sees, or that turn the direction of
 * what follows, as escapes; and the direction of each text by itself. What needs no element is pure. Kept is what a
 * script needs: joiners after letters of scripts that join, variants of Han and Mongolian letters, and emoji as people
 * write them, of several pictures and as flags.
 */

import { h } from "./element.js";

const JOINING = String.raw`[\p{sc=Arab}\p{sc=Syrc}\p{sc=Mong}\p{sc=Nko}\p{sc=Deva}\p{sc=Beng}\p{sc=Guru}\p{sc=Gujr}\p{sc=Orya}\p{sc=Taml}\p{sc=Telu}\p{sc=Knda}\p{sc=Mlym}\p{sc=Sinh}\p{sc=Khmr}\p{sc=Mymr}\p{sc=Tibt}]\p{M}*[\u200c\u200d]`;
const PICTURE = String.raw`\p{Extended_Pictographic}\p{Emoji_Modifier}?[\ufe0e\ufe0f]?`;
const FLAG =
  "\u{1f3f4}\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}";
const VARIANT = String.raw`\p{sc=Han}[\ufe00-\ufe02\u{e0100}-\u{e01ef}]|\p{sc=Mong}[\u180b-\u180d\u180f]|[0-9#*]\ufe0f\u20e3`;
const HIDDEN = String.raw`[\p{Default_Ignorable_Code_Point}\p{Cs}\u{fff9}-\u{fffb}\u2028\u2029]|(?![\n\t])\p{Cc}`;
const PIECES = new RegExp(`(${FLAG}|${PICTURE}(?:\\u200d${PICTURE})*|${VARIANT}|${JOINING})|(${HIDDEN})`, "gu");
const STRING = /"(?:[^"\\]|\\.)*"/g;

/** As in the source of a program, and as JSON reads it. @param {string} text */
const escaped = (text) =>
  [...Array(text.length).keys()].map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`).join("");

/** @param {string} text @returns {{text: string, isEscape: boolean}[]} */
export function visibleParts(text) {
  /** @type {{text: string, isEscape: boolean}[]} */
  const parts = [];
  const add = (/** @type {string} */ piece, isEscape = false) => {
    const last = parts.at(-1);
    if (last?.isEscape === isEscape) last.text += piece;
    else if (piece) parts.push({ text: piece, isEscape });
  };
  let end = 0;
  for (const { 0: piece, 2: hidden, index } of text.matchAll(PIECES)) {
    add(text.slice(end, index));
    add(hidden ? escaped(hidden) : piece, Boolean(hidden));
    end = index + piece.length;
  }
  add(text.slice(end));
  return parts;
}

/** For labels and fields, which have no elements. Of JSON it is JSON with the same values. @param {string} text */
export const visibleText = (text) =>
  visibleParts(text)
    .map((part) => part.text)
    .join("");

/** A text with a direction of its own. @param {string} text */
export const shown = (text) => h("bdi", {}, ...nodesOf(text));

/** JSON, of which no string turns the direction of what is around it. @param {string} json  in lines, as people read it */
export function shownJson(json) {
  /** @type {Node[]} */
  const nodes = [];
  let end = 0;
  for (const { 0: string, index } of json.matchAll(STRING)) {
    nodes.push(new Text(json.slice(end, index)), shown(string));
    end = index + string.length;
  }
  return [...nodes, ...nodesOf(json.slice(end))];
}

/** Makes the text what the element shows, if it is another one. @param {HTMLElement & {shownText?: string}} element @param {string} text */
export function showText(element, text) {
  if (element.shownText === text) return;
  element.shownText = text;
  element.replaceChildren(text ? shown(text) : "");
}

/** @param {string} text @returns {Node[]} */
function nodesOf(text) {
  return visibleParts(text).map((part) =>
    part.isEscape ? h("span", { class: "escape" }, part.text) : new Text(part.text),
  );
}

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
