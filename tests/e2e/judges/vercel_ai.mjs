// OpenAI's client for Node and Vercel's AI SDK, by responses and by chat completions.
import assert from "node:assert/strict";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, Output, stepCountIs, streamText, tool } from "ai";
import OpenAI from "openai";
import { z } from "zod";

const ANSWER = "Two tides a day.";
const PICTURE =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const image = { type: "image", image: PICTURE };
const text = (words) => ({ type: "text", text: words });
const asked = (words) => [{ role: "user", content: words }];

async function judgeClient() {
  const client = new OpenAI({ maxRetries: 0 });
  assert((await client.models.list()).data.some((model) => model.id === "alpha"));
  const response = await client.responses.create({ model: "alpha", input: "TEXT" });
  assert.equal(response.output_text, ANSWER);
  const stream = client.responses.stream({ model: "alpha", input: "TEXT" });
  assert.equal((await stream.finalResponse()).output_text, ANSWER);
  const chat = await client.chat.completions.create({ model: "alpha", messages: asked("TEXT") });
  assert.equal(chat.choices[0].message.content, ANSWER);
  const parameters = { type: "object", properties: { port: { type: "string" } } };
  const tide = { name: "tide", description: "x", parameters, parse: JSON.parse, function: () => "18:40" };
  const tools = [{ type: "function", function: tide }];
  const acted = client.chat.completions.runTools({ model: "alpha", messages: asked("FUNCTION"), tools });
  assert.equal(await acted.finalContent(), ANSWER);
  const told = [{ type: "message", role: "user", content: "TEXT" }];
  const { id: conversation } = await client.conversations.create({ items: told });
  await client.responses.create({ model: "alpha", input: "TEXT", conversation });
  const kinds = [];
  for await (const item of client.conversations.items.list(conversation, { limit: 1 })) {
    kinds.push(item.role ?? item.type);
  }
  assert.deepEqual(kinds, ["assistant", "reasoning", "user"]);
  const later = await client.responses.create({ model: "alpha", input: "TEXT", background: true });
  const numbers = [];
  for await (const event of await client.responses.retrieve(later.id, { stream: true, starting_after: 1 })) {
    numbers.push(event.sequence_number);
  }
  assert.deepEqual(numbers, [...numbers.keys()].map((place) => place + 2));
}

async function judgeModel(of) {
  const model = of("alpha");
  const execute = async () => "18:40";
  const tools = { tide: tool({ description: "x", inputSchema: z.object({ port: z.string() }), execute }) };
  const acting = { model, tools, stopWhen: stepCountIs(3) };
  assert.equal((await generateText({ model, system: "Be brief.", prompt: "TEXT" })).text, ANSWER);
  assert.equal(await streamText({ model, prompt: "TEXT" }).text, ANSWER);
  const acted = await generateText({ ...acting, prompt: "FUNCTION" });
  assert.deepEqual([acted.text, acted.steps.length], [ANSWER, 2]);
  assert.equal(await streamText({ ...acting, prompt: "FUNCTION" }).text, ANSWER);
  const messages = [...asked("FUNCTION"), ...acted.response.messages, ...asked("TEXT")];
  assert.equal((await generateText({ model, tools, messages })).text, ANSWER);
  const output = Output.object({ schema: z.object({ hour: z.number() }) });
  assert.deepEqual((await generateText({ model, prompt: "OBJECT", output })).output, { hour: 18 });
  const seeing = of("sighted");
  const first = { role: "user", content: [text("TEXT"), image] };
  const seen = await generateText({ model: seeing, messages: [first] });
  assert.equal(seen.text, `${ANSWER} 1`);
  const again = [first, ...seen.response.messages, { role: "user", content: [text("TEXT"), image] }];
  assert.equal((await generateText({ model: seeing, messages: again })).text, `${ANSWER} 2`);
}

const provider = createOpenAI({ baseURL: process.env.OPENAI_BASE_URL });
await judgeClient();
await judgeModel((name) => provider.responses(name));
await judgeModel((name) => provider.chat(name));
