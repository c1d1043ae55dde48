// LibreChat's schema takes the configuration of docs/openai.md, and LangChain, which its agents run on, answers by it.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { tool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
import { configSchema, extractEnvVariable } from "librechat-data-provider";
import { parse } from "yaml";
import { z } from "zod";

const ANSWER = "Two tides a day.";
const blocks = [...readFileSync(process.env.OPENAI_PAGE, "utf8").matchAll(/```yaml\n(.*?)```/gs)];
const written = blocks.map(([, block]) => block).find((block) => block.includes("endpoints:"));
const address = written.replace("https://chat.example.org/v1", process.env.OPENAI_BASE_URL);
const [endpoint] = configSchema.strict().parse(parse(address)).endpoints.custom;
process.env.TURNWIRE_TOKEN = process.env.OPENAI_API_KEY;
const apiKey = extractEnvVariable(endpoint.apiKey);

// As LibreChat asks when `fetch` is set.
const listed = await fetch(`${endpoint.baseURL}/models`, { headers: { Authorization: `Bearer ${apiKey}` } });
const names = (await listed.json()).data.map(({ id }) => id);
assert(endpoint.models.fetch && names.includes(endpoint.models.default[0]));

const configuration = { baseURL: endpoint.baseURL };
const model = new ChatOpenAI({ model: names[0], apiKey, configuration, maxRetries: 0 });
const streamed = [];
for await (const chunk of await model.stream("TEXT")) streamed.push(chunk.text);
assert.equal(streamed.join(""), ANSWER);
const stopped = [["user", "TEXT"], ["assistant", ""], ["user", "TEXT"]];
assert.equal((await model.invoke(stopped)).text, ANSWER);
const schema = z.object({ port: z.string() });
const tide = tool(({ port }) => `18:40 in ${port}`, { name: "tide", description: "The next high tide.", schema });
const acting = model.bindTools([tide]);
const asked = [["user", "FUNCTION"]];
const called = await acting.invoke(asked);
assert.deepEqual(called.tool_calls.map(({ args }) => args), [{ port: "Brest" }]);
const outputs = await Promise.all(called.tool_calls.map((call) => tide.invoke(call)));
assert.equal((await acting.invoke([...asked, called, ...outputs])).text, ANSWER);
