// The types that openapi-typescript generates from the OpenAPI document: openapi-fetch asks, reads and stops with them.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const base = process.env.OPENAI_BASE_URL.replace(/\/v1$/, "");
const headers = { Authorization: `Token ${process.env.OPENAI_API_KEY}` };
mkdirSync(join(here, "generated"), { recursive: true });
const folder = mkdtempSync(join(here, "generated", "client-"));
const run = (program, ...parameters) =>
  execFileSync(process.execPath, [join(here, "node_modules", program), ...parameters], { cwd: folder, encoding: "utf8" });

const described = await fetch(`${base}/api/schema/?format=json`, { headers });
assert.equal(described.status, 200);
writeFileSync(join(folder, "turnwire.json"), await described.text());
run("openapi-typescript/bin/cli.js", "turnwire.json", "-o", "turnwire.d.ts");

writeFileSync(
  join(folder, "client.mts"),
  `import createClient from "openapi-fetch";
import type { paths } from "./turnwire.d.ts";

export async function ask(baseUrl: string, headers: Record<string, string>) {
  const client = createClient<paths>({ baseUrl, headers });
  const session = await client.POST("/api/sessions/", { body: { title: "Tides" } });
  const params = { path: { session: session.data!.id } };
  const turn = await client.POST("/api/sessions/{session}/turns/", { params, body: { text: "Why two tides?", models: ["alpha"] } });
  const run = { params: { path: { run: turn.data!.runs[0].id } } };
  let status: string;
  do status = (await client.GET("/api/runs/{run}/", run)).data!.status;
  while (status !== "completed" && status !== "failed");
  const messages = (await client.GET("/api/sessions/{session}/messages/", { params })).data!;
  const stopped = (await client.POST("/api/runs/{run}/cancellation/", run)).data!.status;
  const missing = (await client.GET("/api/runs/{run}/", { params: { path: { run: session.data!.id } } })).error!.code;
  // @ts-expect-error a turn has a text
  const refused = (await client.POST("/api/sessions/{session}/turns/", { params, body: {} })).error!.field;
  return { status, texts: messages.map((message) => message.text), stopped, missing, refused };
}
`,
);
run("typescript/bin/tsc", "--strict", "--target", "es2022", "--module", "nodenext", "--allowImportingTsExtensions",
  "--rewriteRelativeImportExtensions", "--lib", "es2022,dom", "client.mts");
const { ask } = await import(pathToFileURL(join(folder, "client.mjs")));
assert.deepEqual(await ask(base, headers), {
  status: "completed",
  texts: ["Why two tides?", "Two tides a day."],
  stopped: "completed",
  missing: "run_not_found",
  refused: "text",
});
