/** What restricted members see of a search. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { safeSummaryText } from "../../../web/static/chat/tools/tool_texts.js";

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
