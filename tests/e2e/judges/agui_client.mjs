// AG-UI's own client runs an agent: texts, a function of the frontend, a joined run, an interrupt.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { HttpAgent } from "@ag-ui/client";

const url = process.env.OPENAI_BASE_URL.replace(/\/v1$/, "/agui");
const headers = { Authorization: `Bearer ${process.env.OPENAI_API_KEY}` };
const open = (threadId = randomUUID()) => new HttpAgent({ url, headers, threadId });
const ask = (agent, content) => agent.messages.push({ id: randomUUID(), role: "user", content });
const texts = (agent) => agent.messages.filter((message) => message.role === "assistant").map((message) => message.content);

const agent = open();
ask(agent, "TEXT");
await agent.runAgent();
assert.match(texts(agent).at(-1), /tides/i);
ask(agent, "MEMORY");
await agent.runAgent();
assert.equal(texts(agent).length, 2);

const tide = {
  name: "tide",
  description: "The next high tide.",
  parameters: { type: "object", properties: { port: { type: "string" } }, required: ["port"] },
};
const port = open();
ask(port, "FUNCTION");
const { pendingToolCallIds } = await new Promise((resolve, reject) => {
  port.runAgent({ tools: [tide] }, { onRunFinishedEvent: resolve, onRunErrorEvent: reject }).catch(reject);
});
assert.equal(pendingToolCallIds.length, 1);
const [call] = port.messages.flatMap((message) => message.toolCalls ?? []);
assert.equal(call.id, pendingToolCallIds[0]);
assert.deepEqual(JSON.parse(call.function.arguments), { port: "Brest" });
port.messages.push({ id: randomUUID(), role: "tool", toolCallId: call.id, content: "18:40" });
await port.runAgent({ tools: [tide] });
assert.match(texts(port).at(-1), /tides/);

// Another page that knows the names of the thread and the run has the whole chat.
const runId = randomUUID();
const first = open();
ask(first, "TEXT");
await first.runAgent({ runId });
const second = open(first.threadId);
await second.runAgent({ runId });
assert.deepEqual(texts(second), texts(first));
console.log("ok");
