/** What of an answer goes to other programs: code, as a file that is named by its language, and a table, as text. */

import { h } from "../elements/element.js";

/** The browser has begun to read the file by then. */
const REVOKE_MS = 60_000;

/** Languages as they are written after a fence, by the ending of their files. */
const ENDINGS = {
  asm: "asm assembly nasm x86asm",
  bat: "bat batch cmd dos",
  c: "c",
  clj: "clj clojure",
  cpp: "c++ cc cpp cxx",
  cs: "c# cs csharp",
  css: "css",
  csv: "csv",
  dart: "dart",
  diff: "diff patch",
  ex: "elixir ex",
  erl: "erl erlang",
  fs: "f# fs fsharp",
  go: "go golang",
  graphql: "gql graphql",
  h: "h",
  hs: "haskell hs",
  html: "htm html",
  ini: "ini",
  java: "java",
  jl: "jl julia",
  js: "javascript js mjs node",
  json: "json json5 jsonc",
  jsx: "jsx",
  kt: "kotlin kt",
  less: "less",
  lua: "lua",
  m: "matlab objc objective-c objectivec",
  md: "markdown md",
  nix: "nix",
  php: "php",
  pl: "perl pl",
  proto: "proto protobuf",
  ps1: "powershell ps ps1 pwsh",
  py: "gyp py python python3",
  r: "r",
  rb: "rb ruby",
  rs: "rs rust",
  scala: "scala",
  scss: "scss",
  sh: "bash console sh shell zsh",
  sql: "mysql pgsql postgres postgresql sql sqlite",
  svg: "svg",
  swift: "swift",
  tex: "latex tex",
  tf: "hcl terraform tf",
  toml: "toml",
  ts: "ts typescript",
  tsx: "tsx",
  vue: "vue",
  xml: "xml",
  yaml: "yaml yml",
  zig: "zig",
};

/** The names of files whose kind is their name. */
const NAMES = new Map([
  ["docker", "Dockerfile"],
  ["dockerfile", "Dockerfile"],
  ["make", "Makefile"],
  ["makefile", "Makefile"],
]);

const ENDING_OF = new Map(
  Object.entries(ENDINGS).flatMap(([ending, languages]) => languages.split(" ").map((language) => [language, ending])),
);

/** The text is a model's: only known endings are used. @param {string} language */
export function fileName(language) {
  const known = language.toLowerCase();
  return NAMES.get(known) ?? `answer.${ENDING_OF.get(known) ?? "txt"}`;
}

/** @param {string} text @param {string} language */
export function downloadCode(text, language) {
  const address = URL.createObjectURL(new Blob([`${text}\n`], { type: "text/plain" }));
  h("a", { href: address, download: fileName(language) }).click();
  setTimeout(() => URL.revokeObjectURL(address), REVOKE_MS);
}

/** What spreadsheets would calculate: a model wrote it, and a formula may send what else the sheet holds. Numbers are none. */
const FORMULA = /^[=@\t\r]|^[+-](?![\d.,\s]*%?$)/;

/** @param {string} cell */
const harmless = (cell) => (FORMULA.test(cell) ? `'${cell}` : cell);

/** Returns CSV (RFC 4180). @param {string[][]} rows */
export function csvOf(rows) {
  return rows.map((row) => row.map(harmless).map(quoted).join(",")).join("\r\n");
}

/** Returns what spreadsheets take as cells when it is pasted: columns are separated by tabs. @param {string[][]} rows */
export function tabbedOf(rows) {
  return rows.map((row) => row.map((cell) => harmless(cell.replace(/\s+/g, " "))).join("\t")).join("\n");
}

/** @param {string} cell */
const quoted = (cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
