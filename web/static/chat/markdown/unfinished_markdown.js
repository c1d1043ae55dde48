/**
 * Prepares Markdown that is still being written, so that what is shown does not change its kind later: open markup is
 * completed (`**bold`) or held back until its kind is known (`[a link`, `| a table`). Only the last block is changed.
 * TeX is completed so that it can be typeset. Pure.
 */

/** Marks the end of a formula that is completed here, see markdown_rules.js. A private-use character. */
export const OPEN = "\uE0A5";

const FENCE = /^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})(.*)$/;
// A line that could still become a rule, a heading's underline, a list item, a fence, a definition, …
const UNDECIDED_LINE =
  /^[ \t>]*(?:[-*+=_~`|\\$]+|#{1,6}|\d{1,9}[.)]?|[-*+] \[[ xX]?\]?|\[(?!\^)[^\]\n]{0,80}\]:.*|<\/?[ds]?[a-z]{0,7}>?|<(?:details|summary)\b.*|\\[a-z]+(?:\{[a-z]*\*?)?)[ \t]*$/;
const SINGLE_LINE_BLOCK = /^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?|#{1,6}[ \t]+|\|)/;
/** A bracket or dollar sign that stays open for longer is plain text. */
const HELD_CHARACTERS = 100;

// Bounded, or a text of brackets would be read to its end from each of them, for each piece of an answer.
const LINK = /!?\[[^[\]\n]*\]\([^)\n]{0,2000}\)/g;
const OPEN_LINK = /(!?)\[((?:[^[\]\n]|\[[^[\]\n]*\]){0,500})\]\([^)\n]{0,2000}$/;

/** @param {string} text @returns {string} */
export function completeMarkdown(text) {
  const { fenceAt, blockAt } = scanBlocks(text);
  const lineAt = text.lastIndexOf("\n") + 1;
  const line = text.slice(lineAt);
  if (fenceAt === lineAt) return text.slice(0, lineAt); // its language may be incomplete
  if (fenceAt !== -1) return /^[ \t>]*[`~]+$/.test(line) ? text.slice(0, lineAt) : text;
  const formula = closeOpenFormula(text, blockAt);
  if (formula !== null) return formula;
  if (UNDECIDED_LINE.test(line)) return withoutTableHead(text.slice(0, lineAt), blockAt);
  return withoutTableHead(completeLastLine(text, lineAt, blockAt), blockAt);
}

/** Finds the start of an open fence and of the last block. @param {string} text */
function scanBlocks(text) {
  let fence = "";
  let fenceAt = -1;
  let blockAt = 0;
  let at = 0;
  for (const line of text.split("\n")) {
    const mark = FENCE.exec(line);
    const next = Math.min(at + line.length + 1, text.length);
    if (fence) {
      if (mark?.[1].startsWith(fence) && !mark[2].trim()) [fence, fenceAt, blockAt] = ["", -1, next];
    } else if (mark && !(mark[1][0] === "`" && mark[2].includes("`"))) {
      [fence, fenceAt] = [mark[1], at];
    } else if (!line.trim() && at + line.length < text.length) {
      blockAt = next;
    }
    at = next;
  }
  return { fenceAt, blockAt };
}

/** Closes an open display formula at the end; null if there is no formula at the end. @param {string} text @param {number} blockAt */
function closeOpenFormula(text, blockAt) {
  const begins = /(?:^|\n)[ \t]*(\$\$|\\\[|\\begin\{([a-z]+\*?)\})/g;
  const block = text.slice(blockAt);
  for (let found = begins.exec(block); found; found = begins.exec(block)) {
    const [, opener, environment] = found;
    const closer = environment ? `\\end{${environment}}` : opener === "$$" ? "$$" : "\\]";
    const end = block.indexOf(closer, begins.lastIndex);
    if (end === -1) return closeFormula(text, blockAt + begins.lastIndex, opener, closer);
    begins.lastIndex = end + closer.length;
    if (!block.slice(begins.lastIndex).trim()) return text;
  }
  return null;
}

/** @param {string} text @param {number} bodyAt @param {string} opener @param {string} closer */
function closeFormula(text, bodyAt, opener, closer) {
  const body = text.slice(bodyAt).replace(/(?:\$|\\(?:e(?:n(?:d(?:\{[a-z]*\*?)?)?)?)?)$/, "");
  if (body.trim()) return `${text.slice(0, bodyAt)}${body}${OPEN}${closer}`;
  return text.slice(0, bodyAt - opener.length);
}

/** Holds back the first row of a table, which would render as a paragraph until the second row arrives. @param {string} text @param {number} blockAt */
function withoutTableHead(text, blockAt) {
  const lines = text.slice(blockAt).split("\n");
  const head = lines.findIndex((line) => /^[ \t]*\|/.test(line));
  if (head === -1 || (head > 0 && SINGLE_LINE_BLOCK.test(lines[head - 1]))) return text;
  const [, delimiters, ...rows] = lines.slice(head);
  const isDecided = rows.length > 0 || (delimiters && !/^[ \t|:-]*$/.test(delimiters));
  return isDecided ? text : text.slice(0, blockAt) + lines.slice(0, head).join("\n");
}

/** @param {string} text @param {number} lineAt @param {number} blockAt */
function completeLastLine(text, lineAt, blockAt) {
  const lines = text.slice(blockAt, lineAt).split("\n");
  const own = SINGLE_LINE_BLOCK.exec(text.slice(lineAt));
  let from = own ? lineAt + own[0].length : blockAt;
  if (!own) {
    // The paragraph may be a list item's, or follow a row of a table.
    let at = blockAt;
    for (const line of lines) {
      const marker = SINGLE_LINE_BLOCK.exec(line);
      if (marker) from = at + marker[0].length;
      at += line.length + 1;
    }
  }
  return text.slice(0, from) + completeInline(text.slice(from));
}

/** Closes or holds back open inline markup. @param {string} text of one paragraph, heading, item or row */
function completeInline(text) {
  const withoutStump = text.replace(
    /(?:(?<!\\)(?:\\\\)*\\|&#?\w{0,8}|<\/?(?:[a-z]{0,3}\s?\/?|[ds][a-z]{0,6})|!)$/i,
    "",
  );
  const { masked, tick } = maskCode(withoutStump);
  if (tick !== -1) return closeEmphasis(closeCode(withoutStump, tick), masked);
  const held = findHeldBack(masked);
  const kept = withoutStump.slice(0, held.at) + held.instead;
  return closeEmphasis(kept, masked.slice(0, held.at));
}

/** Code, escapes and whole formulas are blanks in `masked`; tick: where open code begins, or -1. @param {string} text */
function maskCode(text) {
  /** @param {string} part */
  const blank = (part) => " ".repeat(part.length);
  const masked = text
    .replace(/\\[^\n([]/g, blank)
    .replace(/(?<!`)(`+)(?!`)([\s\S]*?[^`])\1(?!`)/g, (part) => "\u00B7".repeat(part.length));
  const tick = masked.search(/`/);
  const prose = (tick === -1 ? masked : masked.slice(0, tick))
    .replace(/\$\$[^$]+\$\$|\$(?![\s$])[^$\n]*?[^\s$]\$(?![\d$])|\\\([\s\S]*?\\\)|\\\[[\s\S]*?\\\]/g, (part) =>
      "\u00B7".repeat(part.length),
    )
    .replace(LINK, (part) => "\u00B7".repeat(part.length));
  return { masked: prose, tick };
}

/** @param {string} text @param {number} tick */
function closeCode(text, tick) {
  const ticks = /^`+/.exec(text.slice(tick))[0];
  const body = text.slice(tick + ticks.length);
  return body.trim() && !body.endsWith("`")
    ? text + ticks
    : text.slice(0, tick) + (body.trim() ? ticks + body.replace(/`+$/, "") + ticks : "");
}

/** Finds the start of what may become a link or a formula, and what to show until then. @param {string} masked */
function findHeldBack(masked) {
  const target = OPEN_LINK.exec(masked);
  if (target && /^\[\d+\]$/.test(target[2])) return { at: target.index, instead: "" }; // a citation
  if (target) return { at: target.index + target[1].length + 1 + target[2].length, instead: "]()" };
  const starts = [/!?\[\[?[^[\]\n]*\]{0,2}$/, /\\[([][\s\S]*$/, /\$\$?(?![\s\d$])[^$\n]*$|\$\$?$/, /https?:?\/?\/?$/]
    .map((pattern) => masked.search(pattern))
    .filter((at) => at !== -1 && masked.length - at <= HELD_CHARACTERS);
  return { at: Math.min(masked.length, ...starts), instead: "" };
}

/** Closes open emphasis. @param {string} text @param {string} masked the text to search for emphasis */
function closeEmphasis(text, masked) {
  /** @type {string[]} */
  const open = [];
  let stump = 0;
  for (const { 0: run, index } of masked.matchAll(/\*{1,3}|_{1,3}|~{1,2}/g)) {
    const [before, after] = [masked[index - 1] ?? " ", masked[index + run.length] ?? ""];
    if (open.at(-1) === run && /\S/.test(before)) open.pop();
    else if (after === "") stump = text.endsWith(run) ? run.length : 0;
    else if (run !== "~" && /\S/.test(after) && (run[0] !== "_" || !/\w/.test(before))) open.push(run);
  }
  const shown = stump ? text.slice(0, -stump) : text;
  return open.length ? shown.trimEnd() + open.reverse().join("") : shown;
}

/** @param {string} tex @returns {string} */
export function completeTex(tex) {
  let text = tex.replace(/(?:\\[a-zA-Z]*|[\^_&]|\\begin\{[^}]*|\\left|\\right)\s*$/, "");
  /** @type {string[]} */
  const open = [];
  for (const { 0: part, 1: opened, 2: closed } of text.matchAll(
    /\\begin\{([^}]*)\}|\\end\{([^}]*)\}|\\left(?![a-z])|\\right(?![a-z])|\\.|[{}]/g,
  )) {
    if (opened !== undefined) open.push(`\\end{${opened}}`);
    else if (part === "{") open.push("}");
    else if (part === "\\left") open.push("\\right.");
    else if (closed !== undefined || part === "}" || part === "\\right") open.pop();
  }
  if (/\\left$/.test(text)) text = text.slice(0, -"\\left".length);
  return text + open.reverse().join("");
}
