/**
 * The text of an answer as people read it. Pure. It is one text, with a paragraph break at each round of tools, as in
 * chat/transcript/readable_text.py: both pass tests/chat/transcript/passages.json. Its sources are counted from 1, in
 * the order in which the text cites them; the numbers that the model reads go on through the chat. Whether `[1]` cites
 * is decided as in chat/transcript/citation_places.py; both pass tests/chat/transcript/citation_places.json.
 */

import { roundsOf } from "./tool_rounds.js";

/** @import {Message, Round, Source} from "../types.js" */

const FENCE = /^([ \t]*(?:(?:>|[-*+]|\d{1,9}[.)])[ \t]+|>)*)(`{3,}|~{3,})(.*)$/;

/** @param {{text: string, rounds: Round[]}} answer */
export function readableText({ text, rounds }) {
  const passages = [];
  let rest = text;
  for (const { textBefore } of rounds) {
    if (!rest.startsWith(textBefore.slice(0, rest.length))) break;
    passages.push(rest.slice(0, textBefore.length));
    rest = rest.slice(textBefore.length);
  }
  return joinPassages([...passages, rest]);
}

/** @param {Message} message */
export const readableMessage = ({ text, tool_calls }) => readableText({ text, rounds: roundsOf(tool_calls) });

/** The passages as paragraphs; blank ones are left out, and a code block that one leaves open is closed. @param {string[]} passages */
function joinPassages(passages) {
  const [first = "", ...others] = passages.filter((passage) => passage.trim());
  return others.reduce(
    (joined, passage) => `${closeCodeBlock(joined.trimEnd())}\n\n${passage.replace(/^(?:[ \t\r]*\n)+/, "")}`,
    first,
  );
}

/** @param {string} text */
function closeCodeBlock(text) {
  /** @type {string[]|null} */
  let opened = null;
  for (const line of text.split("\n")) {
    if (opened && isContained(opened[0]) && line.trim() && !" \t>".includes(line[0])) opened = null; // it ended with its list or quotation
    const fence = FENCE.exec(line);
    if (fence) opened = afterFence(opened, fence.slice(1));
  }
  return opened && !isContained(opened[0]) ? `${text}\n${opened[0]}${opened[1]}` : text;
}

/** @param {string[]|null} opened @param {string[]} fence */
function afterFence(opened, [container, mark, rest]) {
  if (!opened) return mark[0] === "`" && rest.includes("`") ? null : [container, mark];
  return mark.startsWith(opened[1]) && !rest.trim() ? null : opened;
}

/** Whether a fence stands in a list or a quotation, and ends with it. @param {string} container */
const isContained = (container) => Boolean(container.trim()) || container.length > 3;

/** What is passed over: code, formulas, escapes. Then a link to a source, and a number alone. */
const PARAGRAPH = String.raw`(?:(?!\n[ \t]*\n)[\s\S])+?`;
const PIECES = new RegExp(
  [
    String.raw`(?<fence>~~~+|${"`"}{3,})[\s\S]*?(?:\k<fence>(?![~${"`"}])|$(?![\s\S]))|(?<tick>${"`"}{1,2})${PARAGRAPH}\k<tick>(?!${"`"})`,
    String.raw`\$\$${PARAGRAPH}\$\$|\\\[${PARAGRAPH}\\\]|\\\(${PARAGRAPH}\\\)|\\begin\{(?<name>[a-z]+\*?)\}${PARAGRAPH}\\end\{\k<name>\}`,
    String.raw`\$(?![\s$])(?!\d[^\\^_={}$\n]*\s[A-Za-z]{2,})(?:\\[^\n]|[^\\$\n])*?[^\s$]\$(?![\w$])|\\.`,
    String.raw`\[\[(?<linked>[1-9]\d{0,8})\]\](?=\()|\[(?<alone>[1-9]\d{0,8})\](?!\((?:https?:\/\/|[\/#)]))`,
  ].join("|"),
  "gs",
);
const WORD = /[\p{Ll}\p{Lu}_]\d*$/u;
const NO_STATEMENT = /(?:["'\]:/]|"\s?:\s?|[=∈∉⊂⊆]\s?)$/;
const ADDRESS = /:\/\/[^\s<>"'()*|\u3000-\u303f\uff00-\uffef]*$/;
const LIST = /\[[-\d\s,.[\]]*$/;
const DEFINITION = /^\[\d+\]:[ \t]{0,20}(?:<|[a-zA-Z][a-zA-Z0-9+.-]{0,19}:(?=\S)|\/)/;

/** Only such an address is part of a link to a source. */
export const ADDRESS_OF_LINK = /^(?:https?:\/\/|\/(?!\/))/;

/** Whether `[1]` behind this text may be a citation. @param {string} before @param {string} from the text from the bracket on */
export function mayCite(before, from) {
  const near = before.slice(-200);
  if (WORD.test(near) || NO_STATEMENT.test(near) || ADDRESS.test(near)) return false;
  if (/(?:^|\n) {0,3}$/.test(near) && DEFINITION.test(from)) return false;
  const list = LIST.exec(near)?.[0] ?? "";
  return list.split("[").length <= list.split("]").length;
}

/** The sources in the order in which the text cites them, each with its place. @param {string} text @param {Source[]} sources @returns {Source[]} */
export function countedFromOne(text, sources) {
  if (sources.length === 0) return sources;
  const order = [...new Set([...placesOf(text, sources)].map(({ number }) => number))];
  const place = (/** @type {Source} */ { number }) => (order.includes(number) ? order.indexOf(number) : order.length);
  return [...sources].sort((one, other) => place(one) - place(other)).map((source, i) => ({ ...source, place: i + 1 }));
}

/** The text with the places of its sources instead of their numbers: what is copied. @param {string} text @param {Source[]} sources */
export function withPlaces(text, sources) {
  const places = new Map(countedFromOne(text, sources).map(({ number, place }) => [number, place]));
  let changed = "";
  let at = 0;
  for (const { number, begin, end } of placesOf(text, sources)) {
    changed += text.slice(at, begin) + places.get(number);
    at = end;
  }
  return changed + text.slice(at);
}

/** Where the numbers of sources stand. @param {string} text @param {Source[]} sources */
function* placesOf(text, sources) {
  const byNumber = new Map(sources.map((source) => [source.number, source]));
  let citationEnd = -1;
  for (const { 0: piece, index, groups = {} } of text.matchAll(PIECES)) {
    const digits = groups.linked ?? groups.alone;
    const source = byNumber.get(Number(digits));
    if (!source) continue;
    if (
      groups.alone &&
      (ADDRESS_OF_LINK.test(source.url ?? "") ||
        !(
          citationEnd === index || mayCite(text.slice(Math.max(0, index - 200), index), text.slice(index, index + 100))
        ))
    )
      continue;
    const begin = index + piece.indexOf(digits);
    yield { number: source.number, begin, end: begin + digits.length };
    citationEnd = groups.alone ? index + piece.length : text.indexOf(")", index) + 1;
  }
}
