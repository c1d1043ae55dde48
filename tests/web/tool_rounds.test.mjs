import assert from "node:assert/strict";
import { test } from "node:test";

import { emptyState, fold } from "../../chat/static/chat/session_state.js";
import { MESSAGE, RUN, SESSION, questions, subscribed, turnStarted } from "./recorded.mjs";

const place = (turn_index, tab_index = 0, sub_turn_index = null) => ({ turn_index, tab_index, sub_turn_index, model_index: 0 });
const source = { number: 1, document_id: "d", title: "Tides", url: "https://example.org/tides" };

/** Thinks, calls two tools at once - one is an agent that calls another inside -, and answers with a citation. */
const SAID = [
  [place(0), { type: "run_start", model: "m1" }],
  [place(0), { type: "reasoning_start" }],
  [place(0), { type: "reasoning_delta", text: "Look it up." }],
  [place(0), { type: "reasoning_done" }],
  [place(1), { type: "top_level_branching", count: 2 }],
  [place(1, 0), { type: "tool_start", tool_call_id: "a", name: "web_search" }],
  [place(1, 0), { type: "tool_arguments", tool_call_id: "a", arguments: { query: "tides" } }],
  [place(1, 1), { type: "tool_start", tool_call_id: "b", name: "research_agent" }],
  [place(1, 1), { type: "tool_arguments", tool_call_id: "b", arguments: { question: "why two" } }],
  [place(1, 1, 0), { type: "reasoning_start" }],
  [place(1, 1, 0), { type: "reasoning_delta", text: "Inner thought." }],
  [place(1, 1, 0), { type: "reasoning_done" }],
  [place(1, 1, 1), { type: "tool_start", tool_call_id: "c", name: "current_time" }],
  [place(1, 1, 1), { type: "tool_arguments", tool_call_id: "c", arguments: {} }],
  [place(1, 0), { type: "tool_output", tool_call_id: "a", documents: [source] }],
  [place(1, 0), { type: "section_end", tool_call_id: "a" }],
  [place(1, 1, 1), { type: "tool_output", tool_call_id: "c", output: "noon" }],
  [place(1, 1, 1), { type: "section_end", tool_call_id: "c" }],
  [place(1, 1, 2), { type: "report_start" }],
  [place(1, 1, 2), { type: "report_delta", text: "Two bulges." }],
  [place(1, 1, 2), { type: "section_end" }],
  [place(1, 1), { type: "tool_output", tool_call_id: "b", output: "Two bulges." }],
  [place(1, 1), { type: "section_end", tool_call_id: "b" }],
  [place(2), { type: "message_start", documents: [source] }],
  [place(2), { type: "citation_info", ...source }],
  [place(2), { type: "message_delta", text: "Bulges [[1]](https://example.org/tides)." }],
  [place(2), { type: "section_end" }],
  [place(3), { type: "stop", stop_reason: "finished" }],
];
const PACKETS = SAID.map(([placement, obj], i) => ({ type: "packet", session: SESSION, run: RUN, attempt: 1, seq: i + 1, placement, obj }));

/** As REST tells of it while its calls run and once it has ended. */
const readCalls = (status, outcome = {}) => [
  { tool_call_id: "a", name: "web_search", arguments: { query: "tides" }, response: "{}", status, turn_number: 0, tab_index: 0, reasoning: "Look it up.", children: [], ...outcome.a },
  { tool_call_id: "b", name: "research_agent", arguments: { question: "why two" }, response: "", status, turn_number: 0, tab_index: 1, reasoning: "Look it up.", children: [], ...outcome.b },
];

function play(frames) {
  return frames.reduce((state, frame) => fold(state, frame)[0], emptyState(SESSION)).answers[RUN];
}

const begun = [subscribed(), turnStarted()];

test("calls stand in rounds with what was thought before them, and the text is the answer's alone", () => {
  const answer = play([...begun, ...PACKETS]);
  assert.equal(answer.text, "Bulges [[1]](https://example.org/tides).");
  assert.equal(answer.reasoning, "");
  const [round] = answer.rounds;
  assert.equal(round.reasoning, "Look it up.");
  assert.deepEqual(round.calls.map(({ id, running }) => [id, running]), [["a", false], ["b", false]]);
  assert.deepEqual(round.calls[0].documents, [source]);
  assert.deepEqual(round.calls[1].inside.map(({ id, output }) => [id, output]), [["c", "noon"]]);
  assert.equal(round.calls[1].report, "Two bulges.");
  assert.deepEqual(answer.citations.map(({ number }) => number), [1]);
});

test("a message read while tools run and the packets after its cursor show each call once, with its outcome", () => {
  const { question, answer: message } = questions();
  for (let moment = 4; moment < 14; moment += 1) {
    const read = { ...message, text: "", reasoning: "", status: "running", cursor: { attempt: 1, seq: moment }, tool_calls: readCalls("running") };
    const answer = play([{ type: "read", session: SESSION, branch: [question, read], alongside: [] }, ...PACKETS.slice(moment)]);
    const calls = answer.rounds.flatMap((round) => round.calls);
    assert.deepEqual(calls.map(({ id, running }) => [id, running]).sort(), [["a", false], ["b", false]], `after ${moment}`);
    assert.equal(answer.rounds.length, 1, `after ${moment}`);
    assert.deepEqual(answer.rounds[0].calls.find(({ id }) => id === "a").documents, [source]);
    assert.equal(answer.text, "Bulges [[1]](https://example.org/tides).");
  }
});

test("a reset forgets calls and citations", () => {
  const answer = play([...begun, ...PACKETS.slice(0, 20), { type: "reset", run: RUN, attempt: 2, reason: "worker_lost" }]);
  assert.deepEqual([answer.rounds, answer.citations, answer.message], [[], [], MESSAGE]);
});
