/** The cards of the built-in tools, which the page brings along: a document that has them, for modules that ask for it. */

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const cards = execFileSync(`${root}/.venv/bin/python`, ["-m", "tests.tool_cards"], {
  cwd: root,
  encoding: "utf8",
});

/** @param {string} [tools] the names of those that are set up */
export function setUpTools(tools) {
  globalThis.document = { body: { dataset: { tools, toolCards: cards } }, documentElement: {} };
}
