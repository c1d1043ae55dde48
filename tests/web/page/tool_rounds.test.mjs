import assert from "node:assert/strict";
import { test } from "node:test";

import { groupsOf, roundsOf, textAfter, withToolPacket } from "../../../web/static/chat/state/tool_rounds.js";
import { outcomeText } from "../../../web/static/chat/tools/tool_texts.js";
import { emptyState, fold } from "../../../web/static/chat/state/session_state.js";
import { MESSAGE, RUN, SESSION, questions, subscribed, turnStarted } from "./recorded.mjs";

const place = (turn_index, tab_index = 0, sub_turn_index = null) => ({
  turn_index,
  tab_index,
  sub_turn_index,
  model_index: 0,
});
const source = { number: 1, document_id: "d", title: "Tides", url: "https://example.org/tides" };

const image = { id: "i", name: "draw, image 1", width: 8, height: 4 };
const NOTE = "Files are being indexed.";

/** Thinks, calls two tools at once - one is an agent that calls another inside -, and answers with a citation. */
const OBJECTS = [
  [place(0), { type: "run_start", model: "m1" }],
  [place(0), { type: "reasoning_start" }],
  [place(0), { type: "reasoning_delta", text: "Look it up." }],
  [place(0), { type: "reasoning_done", duration_ms: 1200 }],
  [place(0), { type: "message_start" }],
  [place(0), { type: "message_delta", text: "One moment. " }],
  [place(0), { type: "section_end" }],
  [place(1), { type: "top_level_branching", count: 2 }],
  [place(1, 0), { type: "tool_start", tool_call_id: "a", name: "web_search" }],
  [place(1, 0), { type: "tool_arguments_delta", tool_call_id: "a", text: '{"query":' }],
  [place(1, 0), { type: "tool_arguments_delta", tool_call_id: "a", text: '"tides"}' }],
  [place(1, 0), { type: "tool_arguments", tool_call_id: "a", arguments: { query: "tides" } }],
  [place(1, 1), { type: "tool_start", tool_call_id: "b", name: "research_agent" }],
  [place(1, 1), { type: "tool_arguments", tool_call_id: "b", arguments: { question: "why two" } }],
  [place(1, 1, 0), { type: "reasoning_start" }],
  [place(1, 1, 0), { type: "reasoning_delta", text: "Inner thought." }],
  [place(1, 1, 0), { type: "reasoning_done" }],
  [place(1, 1, 1), { type: "tool_start", tool_call_id: "c", name: "current_time" }],
  [place(1, 1, 1), { type: "tool_arguments", tool_call_id: "c", arguments: {} }],
  [place(1, 0), { type: "tool_output", tool_call_id: "a", output: NOTE, documents: [source], images: [image] }],
  [place(1, 0), { type: "section_end", tool_call_id: "a", duration_ms: 300 }],
  [place(1, 1, 1), { type: "tool_output", tool_call_id: "c", output: "noon" }],
  [place(1, 1, 1), { type: "section_end", tool_call_id: "c" }],
  [place(1, 1, 2), { type: "report_start" }],
  [place(1, 1, 2), { type: "report_delta", text: "Two bulges." }],
  [place(1, 1, 2), { type: "section_end" }],
  [place(1, 1), { type: "tool_output", tool_call_id: "b", output: "Two bulges." }],
  [place(1, 1), { type: "section_end", tool_call_id: "b", status: "failed", duration_ms: 900 }],
  [place(2), { type: "message_start", documents: [source] }],
  [place(2), { type: "citation_info", ...source }],
  [place(2), { type: "message_delta", text: "Bulges [[1]](https://example.org/tides)." }],
  [place(2), { type: "section_end" }],
  [place(3), { type: "stop", stop_reason: "finished" }],
];
const PACKETS = OBJECTS.map(([placement, obj], i) => ({
  type: "packet",
  session: SESSION,
  run: RUN,
  attempt: 1,
  seq: i + 1,
  placement,
  obj,
}));

/** As REST tells of it while its calls run and once it has ended. */
const BEFORE = {
  turn_number: 0,
  reasoning: "Look it up.",
  reasoning_ms: 1200,
  text_before: "One moment. ",
  children: [],
};
const readCalls = (status) => [
  {
    tool_call_id: "a",
    name: "web_search",
    arguments: { query: "tides" },
    response: JSON.stringify({ documents: [{ contents: "Two bulges." }], note: NOTE }),
    documents: [source],
    images: [image],
    status,
    tab_index: 0,
    ...BEFORE,
  },
  {
    tool_call_id: "b",
    name: "research_agent",
    arguments: { question: "why two" },
    response: "",
    status,
    tab_index: 1,
    ...BEFORE,
  },
];

function play(frames) {
  return frames.reduce((state, frame) => fold(state, frame)[0], emptyState(SESSION)).answers[RUN];
}

const TEXT = "One moment. Bulges [[1]](https://example.org/tides).";
const outcome = ({ id, status, durationMs }) => [id, status, durationMs];
const SUBSCRIBED = [subscribed(), turnStarted()];

test("calls stand in rounds with what was thought before them, and the text is the answer's alone", () => {
  const answer = play([...SUBSCRIBED, ...PACKETS]);
  assert.equal(answer.text, TEXT);
  assert.deepEqual([answer.reasoning, answer.reasoningMs], ["", null]);
  const [round] = answer.rounds;
  assert.deepEqual([round.reasoning, round.reasoningMs, round.textBefore], ["Look it up.", 1200, "One moment. "]);
  assert.equal(textAfter(answer.text, answer.rounds), "Bulges [[1]](https://example.org/tides).");
  assert.deepEqual(round.calls.map(outcome), [
    ["a", "completed", 300],
    ["b", "failed", 900],
  ]);
  assert.deepEqual([round.calls[0].documents, round.calls[0].images], [[source], [image]]);
  assert.deepEqual(
    round.calls[1].inside.map(({ id, output }) => [id, output]),
    [["c", "noon"]],
  );
  assert.equal(round.calls[1].report, "Two bulges.");
  assert.deepEqual(
    answer.citations.map(({ number }) => number),
    [1],
  );
});

test("a message read while tools run and the packets after its cursor show each call once, with its outcome", () => {
  const { question, answer: message } = questions();
  for (let moment = 7; moment < 19; moment += 1) {
    const read = {
      ...message,
      text: "One moment. ",
      reasoning: "",
      status: "running",
      cursor: { attempt: 1, seq: moment },
      tool_calls: readCalls("running"),
    };
    const answer = play([
      { type: "read", session: SESSION, branch: [question, read], alongside: [] },
      ...PACKETS.slice(moment),
    ]);
    const calls = answer.rounds.flatMap((round) => round.calls);
    assert.deepEqual(
      calls.map(outcome).sort(),
      [
        ["a", "completed", 300],
        ["b", "failed", 900],
      ],
      `after ${moment}`,
    );
    assert.equal(answer.rounds.length, 1, `after ${moment}`);
    const { documents, images, output } = answer.rounds[0].calls.find(({ id }) => id === "a");
    assert.deepEqual([documents, images, output], [[source], [image], NOTE]);
    assert.equal(answer.text, TEXT);
    assert.deepEqual(
      answer.rounds.map(({ textBefore, reasoningMs }) => [textBefore, reasoningMs]),
      [["One moment. ", 1200]],
    );
  }
});

test("a call being written is shown to a client that joins, and later calls are added to its round", () => {
  const { question, answer: message } = questions();
  const started = after("tool_start", "a");
  const [branching] = PACKETS.filter(({ obj }) => obj.type === "top_level_branching");
  // The packets of a round whose first call was shown before the second was known.
  const packets = PACKETS.filter((packet) => packet !== branching);
  packets.splice(started, 0, branching);
  const renumbered = packets.map((packet, i) => ({ ...packet, seq: i + 1 }));
  const read = {
    ...message,
    text: "One moment. ",
    reasoning: "Look it up.",
    status: "running",
    cursor: { attempt: 1, seq: started - 2 },
    tool_calls: [],
  };
  const joined = [
    { type: "read", session: SESSION, branch: [question, read], alongside: [] },
    ...renumbered.slice(started - 2),
  ];
  assert.equal(play(joined.slice(0, 4)).rounds[0].calls[0].writing, '{"query":');
  for (const { rounds } of [play(joined), play([...SUBSCRIBED, ...renumbered])]) {
    assert.deepEqual(
      rounds.map(({ calls }) => calls.map(outcome)),
      [
        [
          ["a", "completed", 300],
          ["b", "failed", 900],
        ],
      ],
    );
  }
});

test("a reset forgets calls and citations", () => {
  const answer = play([
    ...SUBSCRIBED,
    ...PACKETS.slice(0, 25),
    { type: "reset", run: RUN, attempt: 2, reason: "worker_lost" },
  ]);
  assert.deepEqual([answer.rounds, answer.citations, answer.message], [[], [], MESSAGE]);
});

const after = (type, id) => PACKETS.findIndex(({ obj }) => obj.type === type && obj.tool_call_id === id) + 1;

test("arguments show as they come, and too long for one packet, they are what the pieces were", () => {
  const half = play([...SUBSCRIBED, ...PACKETS.slice(0, after("tool_arguments_delta", "a"))]);
  assert.deepEqual([half.rounds[0].calls[0].writing, half.rounds[0].calls[0].given], ['{"query":', {}]);
  const packets = PACKETS.slice(0, after("tool_arguments", "a"));
  packets.push({ ...packets.pop(), obj: { type: "tool_arguments", tool_call_id: "a", arguments: {}, ref: "row" } });
  assert.deepEqual(play([...SUBSCRIBED, ...packets]).rounds[0].calls[0].given, { query: "tides" });
});

test("a running call shows how far it is, as its tool says", () => {
  const packets = PACKETS.slice(0, after("tool_arguments", "a"));
  const told = (seq, obj) => ({ ...packets.at(-1), seq, obj: { type: "tool_progress", tool_call_id: "a", ...obj } });
  const shown = (...more) => outcomeText(play([...SUBSCRIBED, ...packets, ...more]).rounds[0].calls[0]);
  const next = packets.length + 1;
  assert.equal(shown(), "running…");
  assert.equal(shown(told(next, { done: 3, total: 12, text: "Reading" })), "Reading · 25%");
  assert.equal(shown(told(next, { done: 13, total: 12 })), "100%");
  assert.equal(shown(told(next, { done: 3, text: "Reading" })), "Reading · running…");
});

test("calls that still run when the answer ends are marked unknown", () => {
  const cut = PACKETS.slice(0, after("tool_arguments", "c"));
  const stop = { ...PACKETS.at(-1), seq: cut.length + 1, obj: { type: "stop", stop_reason: "user_cancelled" } };
  const [round] = play([...SUBSCRIBED, ...cut, stop]).rounds;
  assert.deepEqual(
    round.calls.map(({ status }) => status),
    ["unknown", "unknown"],
  );
  assert.equal(round.calls[1].inside[0].status, "unknown");
});

test("rounds without a word between them are one timeline", () => {
  const round = (textBefore) => ({ turn_index: -1, textBefore, reasoning: "", reasoningMs: null, calls: [] });
  const groups = groupsOf(["", " \n", "Then this. ", ""].map(round));
  assert.deepEqual(
    groups.map(({ textBefore, rounds }) => [textBefore, rounds.length]),
    [
      ["", 2],
      ["Then this. ", 2],
    ],
  );
});

test("a call that is asked about again says what has changed, from its packet and from the message", () => {
  const begun = { turn_index: -1, textBefore: "", reasoning: "", reasoningMs: null, calls: [] };
  const packet = {
    placement: place(0),
    obj: {
      type: "approval_required",
      tool_call_id: "a",
      tool_call: "row",
      name: "quay__write",
      arguments: { text: "b" },
      changed: "address",
    },
  };
  const started = { placement: place(0), obj: { type: "tool_start", tool_call_id: "a", name: "quay__write" } };
  const [round] = [started, packet]
    .reduce((rounds, each) => withToolPacket(rounds, each, { text: "", reasoning: "", reasoningMs: null }), [begun])
    .slice(-1);
  assert.equal(round.calls[0].changed, "address");
  const [read] = roundsOf([
    {
      id: "row",
      tool_call_id: "a",
      name: "quay__write",
      arguments: {},
      response: "",
      status: "waiting",
      turn_number: 0,
      tab_index: 0,
      changed: "server",
    },
  ]);
  assert.equal(read.calls[0].changed, "server");
});
