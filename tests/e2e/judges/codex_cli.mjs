// Codex, configured as docs/openai.md says, has a command run on this machine and gets the answer.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const home = mkdtempSync(join(tmpdir(), "codex-"));
const [, config] = readFileSync(process.env.OPENAI_PAGE, "utf8").match(/```toml\n(.*?)```/s);
const address = process.env.OPENAI_BASE_URL;
writeFileSync(join(home, "config.toml"), config.replace("https://chat.example.org/v1", address));
const codex = join(dirname(fileURLToPath(import.meta.url)), "node_modules", ".bin", "codex");
const command = ["exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"];
const ran = spawnSync(codex, [...command, "Run the COMMAND."], {
  cwd: home,
  env: { ...process.env, CODEX_HOME: home },
  encoding: "utf8",
  stdio: ["ignore", "pipe", "pipe"],
  timeout: 120_000,
});
rmSync(home, { recursive: true });
const events = ran.stdout.split("\n").filter(Boolean).map((line) => JSON.parse(line));
const items = events.filter(({ type }) => type === "item.completed").map(({ item }) => item);
const told = JSON.stringify(events) + ran.stderr;
assert.equal(ran.status, 0, told);
assert.equal(items.find(({ type }) => type === "command_execution")?.aggregated_output, "18:40\n", told);
assert.equal(items.findLast(({ type }) => type === "agent_message")?.text, "Two tides a day.", told);
