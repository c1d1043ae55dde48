import assert from "node:assert/strict";
import { test } from "node:test";

import { duration } from "../../../web/static/chat/elements/formats.js";
import { about, outcomeText, stepsText, safeSummaryText } from "../../../web/static/chat/tools/tool_texts.js";
import { rowsOf } from "../../../web/static/chat/answer/timing_card.js";
import { setUpTools } from "./tool_cards.mjs";

setUpTools();

const call = (name, more = {}) => ({
  id: name,
  tab: 0,
  name,
  given: {},
  writing: "",
  output: "",
  ref: null,
  documents: [],
  status: "completed",
  durationMs: null,
  report: "",
  inside: [],
  ...more,
});
const round = (...calls) => ({ turn_index: 0, textBefore: "", reasoning: "", reasoningMs: null, calls });
const source = (number) => ({ number, document_id: `d${number}`, title: "" });

for (const [ms, words] of [
  [40, "40 ms"],
  [400, "0.4 s"],
  [9_960, "10.0 s"],
  [12_400, "12 s"],
  [185_000, "3 min 5 s"],
]) {
  test(`${ms} ms are ${words}`, () => assert.equal(duration(ms), words));
}

const search = (more) => call("web_search", { given: { query: "tides" }, ...more });

const page = (host, more) => call("open_url", { given: { url: `https://${host}/` }, ...more });

const reading = (more) =>
  call("read_file", { given: { file: "5e551011-0000-4000-8000-000000000000", start: 0 }, ...more });

for (const [line, rounds] of [
  [
    "Searching the project: low water · sand",
    [round(call("search_project", { given: { query: "low water", queries: ["sand"] }, status: "running" }))],
  ],
  [
    "Searched the project · 1 source",
    [round(call("search_project", { given: { query: "sand" }, documents: [source(1)] }))],
  ],
  ["Reading a file…", [round(reading({ status: "running" }))]],
  ["Read a file · 1 source", [round(reading({ documents: [source(1)] }))]],
  ["Searching the web: tides", [round(search({ status: "running" }))]],
  ["Using clock…", [round(call("clock", { status: "running" }))]],
  ["Using 2 tools…", [round(search({ status: "running" }), call("clock", { status: "running" }))]],
  ["Searched the web · 2 sources · 2.1 s", [round(search({ documents: [source(1), source(2)], durationMs: 2100 }))]],
  [
    "Searched the web · 1 source · 3.0 s",
    [
      round(search({ documents: [source(1)], durationMs: 2000 })),
      round(search({ documents: [source(1)], durationMs: 1000 })),
    ],
  ],
  ["Used 2 tools · 3.0 s", [round(search({ durationMs: 3000 }), call("clock", { durationMs: 1000 }))]],
  ["Tried to use clock · failed", [round(call("clock", { status: "failed" }))]],
  ["Using clock · refused · 2.0 s", [round(call("clock", { status: "refused", durationMs: 2000 }))]],
  ["Using clock · stopped", [round(call("clock", { status: "unknown" }))]],
  ["Asked you · not answered", [round(call("ask_user", { status: "refused" }))]],
  ["Could not open a.org · failed", [round(page("a.org", { status: "failed" }))]],
  [
    "Opened a.org · 1 failed · 1 refused",
    [round(page("a.org"), page("b.org", { status: "failed" }), page("c.org", { status: "refused" }))],
  ],
  ["Opened web pages · 1 failed", [round(page("a.org"), page("b.org"), page("c.org", { status: "failed" }))]],
  [
    "Could not open a page · 2 failed",
    [round(page("a.org", { status: "failed" }), page("b.org", { status: "failed" }))],
  ],
  ["Searched the web · 1 failed", [round(search(), page("b.org", { status: "failed" }))]],
  ["Using 2 tools · 1 failed · 1 refused", [round(search({ status: "failed" }), call("clock", { status: "refused" }))]],
  ["Researched · 1 source", [round(call("research_agent", { inside: [search({ documents: [source(1)] })] }))]],
]) {
  test(`folded: ${line}`, () => assert.equal(stepsText(rounds), line));
}

test("a call says what it is about, in one short line", () => {
  assert.equal(about(call("web_search", { given: { queries: ["a", "b"] } })), "a · b");
  assert.equal(about(reading({ status: "running" })), "");
  assert.equal(about(reading({ documents: [{ ...source(1), title: "tides.txt" }] })), "tides.txt");
  assert.equal(about(call("other", { given: { deep: { x: 1 }, text: "long\n".repeat(100) } })).length, 121);
});

test("a call says how it ended", () => {
  assert.equal(outcomeText(call("x", { durationMs: 2100 })), "2.1 s");
  assert.equal(outcomeText(call("x", { status: "failed", durationMs: 2100 })), "failed · 2.1 s");
  assert.equal(outcomeText(call("x", { status: "running" })), "running…");
});

const run = (more = {}) => ({
  id: "1a2b3c4d-0000-7000-8000-000000000000",
  model: "m",
  cycles: 1,
  attempt: 1,
  cost: null,
  time_to_first_token_ms: 500,
  claimed_at: "2026-01-01T00:00:00Z",
  ended_at: "2026-01-01T00:00:04.5Z",
  usage: { prompt_tokens: 1200, completion_tokens: 80, cached_tokens: 1000, reasoning_tokens: null },
  ...more,
});

test("what an answer took: tokens, times, speed without the tools' time", () => {
  const rows = Object.fromEntries(rowsOf(run({ cost: 0.01234, cycles: 2 }), 2000));
  assert.deepEqual(rows, {
    Model: "m",
    "Tokens read": "1,200 (1,000 cached)",
    "Tokens written": "80",
    "First token after": "0.5 s",
    Speed: "40 tokens per second",
    Took: "4.5 s",
    "Model calls": "2",
    Cost: "0.012",
    Reference: "1a2b3c4d",
  });
});

test("unknown values are left out", () => {
  const nothing = { prompt_tokens: null, completion_tokens: null, cached_tokens: null, reasoning_tokens: null };
  assert.deepEqual(rowsOf(run({ usage: nothing, time_to_first_token_ms: null, ended_at: null })), [
    ["Model", "m"],
    ["Reference", "1a2b3c4d"],
  ]);
});

const artifact = (more) =>
  JSON.stringify({
    decision: "answer",
    reason: "found",
    summary: "The works are safe.",
    observations: ["Pumps run.", "Doors\nare shut."],
    risks: [],
    recommended_actions: ["Ask an engineer."],
    answer_guidance: "Stay general.",
    confidence: "high",
    results: [],
    sources: [],
    ...more,
  });

test("a checked summary is read as text, without the fields that are for models", () => {
  assert.equal(
    safeSummaryText(artifact({})),
    "The works are safe.\n\n**Observations**\n\n- Pumps run.\n- Doors are shut.\n\n**Recommended actions**\n\n- Ask an engineer.\n\nHigh confidence",
  );
});

test("a refusal says its text alone", () => {
  assert.equal(
    safeSummaryText(artifact({ decision: "refuse", reason: "no_model", summary: "Nothing can be said." })),
    "Nothing can be said.",
  );
});

test("other outputs stay as they are", () => {
  for (const output of [
    '{"documents": []}',
    artifact({}).slice(0, 50),
    "Nothing matches.",
    "",
    '{"decision": "answer"}',
  ])
    assert.equal(safeSummaryText(output), "");
});
