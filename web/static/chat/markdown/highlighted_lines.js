/**
 * Parses the output of highlight.js into lines of coloured runs. Its HTML is read as text and never inserted
 * as HTML: only the colour of each character is used. Loaded with the highlighter. Pure.
 */

/** @import {Line, Run} from "./code_lines.js" */

const KINDS = {
  keyword: "keyword", "selector-tag": "keyword", name: "keyword", doctag: "keyword", operator: "",
  built_in: "type", type: "type", "title class_": "type", "selector-class": "type", "selector-id": "type",
  string: "string", regexp: "string", char: "string", link: "string", code: "string",
  number: "number", literal: "number", symbol: "number", bullet: "number",
  comment: "comment", quote: "comment", meta: "meta", punctuation: "", params: "", subst: "",
  title: "title", section: "title", attr: "attribute", attribute: "attribute", property: "attribute",
  variable: "attribute", "template-variable": "attribute", "selector-attr": "attribute",
  addition: "added", deletion: "removed",
}; // prettier-ignore

const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', "#x27": "'" };

/** @param {string} html @returns {Line[]} as many as the code has; each but the last ends in a line break */
export function parseLines(html) {
  /** @type {string[]} */
  const open = [];
  /** @type {Line[]} */
  const lines = [];
  /** @type {Run[]} */
  let runs = [];
  for (const [part, scope, text] of html.matchAll(/<span class="([^"]*)">|<\/span>|([^<]+)/g)) {
    if (text === undefined) {
      if (part === "</span>") open.pop();
      else open.push(kindOf(scope, open.at(-1) ?? ""));
      continue;
    }
    const [first, ...rest] = plain(text).split(/(?<=\n)/);
    add(runs, open.at(-1) ?? "", first);
    for (const line of rest) {
      lines.push({ runs, isWhole: open.length === 0 });
      runs = [];
      add(runs, open.at(-1) ?? "", line);
    }
    if (runs.at(-1)?.[1].endsWith("\n")) {
      lines.push({ runs, isWhole: open.length === 0 });
      runs = [];
    }
  }
  return [...lines, { runs, isWhole: open.length === 0 }];
}

/** @param {Run[]} runs @param {string} kind @param {string} text */
function add(runs, kind, text) {
  const last = runs.at(-1);
  if (last && last[0] === kind) last[1] += text;
  else if (text) runs.push([kind, text]);
}

/** @param {string} scope classes like `hljs-title class_` @param {string} outer what an unknown one takes over */
function kindOf(scope, outer) {
  const name = scope.replace(/^hljs-/, "").replace(/ inherited__$/, "");
  const kind =
    KINDS[/** @type {keyof typeof KINDS} */ (name)] ?? KINDS[/** @type {keyof typeof KINDS} */ (name.split(" ")[0])];
  return kind ?? outer;
}

/** @param {string} html */
function plain(html) {
  return html.replace(
    /&(amp|lt|gt|quot|#x27);/g,
    (_whole, name) => ENTITIES[/** @type {keyof typeof ENTITIES} */ (name)],
  );
}
