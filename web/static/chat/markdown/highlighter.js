/**
 * The highlighter, with its common languages. Each is prepared when code in it is highlighted for the first time: all at once take a
 * slow phone a tenth of a second, while an answer is being drawn.
 */

import hljs from "highlight";
import bash from "languages/bash.js";
import c from "languages/c.js";
import cpp from "languages/cpp.js";
import csharp from "languages/csharp.js";
import css from "languages/css.js";
import diff from "languages/diff.js";
import go from "languages/go.js";
import graphql from "languages/graphql.js";
import ini from "languages/ini.js";
import java from "languages/java.js";
import javascript from "languages/javascript.js";
import json from "languages/json.js";
import kotlin from "languages/kotlin.js";
import less from "languages/less.js";
import lua from "languages/lua.js";
import makefile from "languages/makefile.js";
import markdown from "languages/markdown.js";
import objectivec from "languages/objectivec.js";
import perl from "languages/perl.js";
import php from "languages/php.js";
import phpTemplate from "languages/php-template.js";
import plaintext from "languages/plaintext.js";
import python from "languages/python.js";
import pythonRepl from "languages/python-repl.js";
import r from "languages/r.js";
import ruby from "languages/ruby.js";
import rust from "languages/rust.js";
import scss from "languages/scss.js";
import shell from "languages/shell.js";
import sql from "languages/sql.js";
import swift from "languages/swift.js";
import typescript from "languages/typescript.js";
import vbnet from "languages/vbnet.js";
import wasm from "languages/wasm.js";
import xml from "languages/xml.js";
import yaml from "languages/yaml.js";

/** @typedef {{grammar: (hljs: object) => object, aliases?: string, inside?: string}} Language  aliases: other names; inside: the languages that may be embedded in it */

/** @type {Record<string, Language>} */
export const LANGUAGES = {
  bash: { grammar: bash, aliases: "sh zsh" },
  c: { grammar: c, aliases: "h" },
  cpp: { grammar: cpp, aliases: "cc c++ h++ hpp hh hxx cxx" },
  csharp: { grammar: csharp, aliases: "cs c#" },
  css: { grammar: css },
  diff: { grammar: diff, aliases: "patch" },
  go: { grammar: go, aliases: "golang" },
  graphql: { grammar: graphql, aliases: "gql" },
  ini: { grammar: ini, aliases: "toml" },
  java: { grammar: java, aliases: "jsp" },
  javascript: { grammar: javascript, aliases: "js jsx mjs cjs", inside: "xml css graphql" },
  json: { grammar: json, aliases: "jsonc json5" },
  kotlin: { grammar: kotlin, aliases: "kt kts ktm ktx" },
  less: { grammar: less },
  lua: { grammar: lua, aliases: "pluto" },
  makefile: { grammar: makefile, aliases: "mk mak make" },
  markdown: { grammar: markdown, aliases: "md mkdown mkd", inside: "xml" },
  objectivec: { grammar: objectivec, aliases: "mm objc obj-c obj-c++ objective-c++" },
  perl: { grammar: perl, aliases: "pl pm" },
  php: { grammar: php },
  "php-template": { grammar: phpTemplate, inside: "xml php" },
  plaintext: { grammar: plaintext, aliases: "text txt" },
  python: { grammar: python, aliases: "py gyp ipython" },
  "python-repl": { grammar: pythonRepl, aliases: "pycon", inside: "python" },
  r: { grammar: r },
  ruby: { grammar: ruby, aliases: "rb gemspec podspec thor irb" },
  rust: { grammar: rust, aliases: "rs" },
  scss: { grammar: scss },
  shell: { grammar: shell, aliases: "console shellsession", inside: "bash" },
  sql: { grammar: sql },
  swift: { grammar: swift },
  typescript: { grammar: typescript, aliases: "ts tsx mts cts", inside: "xml css graphql" },
  vbnet: { grammar: vbnet, aliases: "vb" },
  wasm: { grammar: wasm },
  xml: { grammar: xml, aliases: "html xhtml rss atom xjb xsd xsl plist wsf svg", inside: "css javascript" },
  yaml: { grammar: yaml, aliases: "yml", inside: "ruby" },
};

/** By every name that is written after a fence. @type {Map<string, string>} */
const NAMES = new Map(
  Object.entries(LANGUAGES).flatMap(([name, { aliases = "" }]) =>
    [name, ...aliases.split(" ").filter(Boolean)].map((each) => [each, name]),
  ),
);

/** Prepares a language and those that may be embedded in it. @param {string} name as it was written after the fence @returns {boolean} whether it is supported */
export function prepare(name) {
  const known = NAMES.get(name);
  if (known === undefined) return false;
  if (hljs.getLanguage(known)) return true;
  const { grammar, inside = "" } = LANGUAGES[known];
  hljs.registerLanguage(known, grammar);
  inside.split(" ").filter(Boolean).forEach(prepare);
  return true;
}

/** @param {string} code @param {string} language that is prepared @returns {string} HTML */
export const highlightCode = (code, language) => hljs.highlight(code, { language, ignoreIllegals: true }).value;
