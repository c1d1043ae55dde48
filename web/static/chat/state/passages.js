/**
 * The text of an answer as one text to read, with a paragraph break at each round of tools. Pure.
 * The same as chat/transcript/readable_text.py; both pass tests/chat/transcript/passages.json.
 */

import { roundsOf } from "./tool_rounds.js";

/** @import {Message, Round} from "../types.js" */

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
export function joinPassages(passages) {
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
