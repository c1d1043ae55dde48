import assert from "node:assert/strict";
import { test } from "node:test";

import { emptyState, fold, isLive, subscription } from "../../../web/static/chat/state/session_state.js";
import { MESSAGE, RUN, SESSION, messageAfter, readAfter, recordedRun, subscribed, turnStarted } from "./recorded.mjs";

const PACKETS = recordedRun();
const FINAL = messageAfter(PACKETS, PACKETS.length);

/** Fold all frames; also returns every effect asked for on the way. */
function play(frames, state = emptyState(SESSION)) {
  const effects = [];
  for (const frame of frames) {
    const [next, wanted] = fold(state, frame);
    state = next;
    effects.push(...wanted);
  }
  return { state, effects, answer: state.answers[RUN] };
}

const shown = ({ text, reasoning, status }) => ({ text, reasoning, status });
const SUBSCRIBED = [subscribed(), turnStarted()];

test("packets from the first to the last show the message as it is stored", () => {
  const { answer, effects } = play([...SUBSCRIBED, ...PACKETS]);
  assert.deepEqual(shown(answer), shown(FINAL));
  assert.ok(answer.ended);
  assert.ok(!effects.includes("resubscribe"));
});

test("a message read at any moment, plus the packets after its cursor, shows the same text", () => {
  for (let moment = 0; moment <= PACKETS.length; moment += 1) {
    const { answer, effects } = play([readAfter(PACKETS, moment), ...PACKETS.slice(moment)]);
    if (moment === PACKETS.length) assert.equal(answer, undefined, "a final message needs no packets");
    else assert.deepEqual(shown(answer), shown(FINAL), `read after ${moment} packets`);
    assert.deepEqual(effects, [], `read after ${moment} packets`);
  }
});

test("a read at any moment between any packets changes nothing in the end", () => {
  for (let at = 0; at <= PACKETS.length; at += 1) {
    for (let read = 0; read <= PACKETS.length; read += 1) {
      const frames = [...SUBSCRIBED, ...PACKETS.slice(0, at), readAfter(PACKETS, read), ...PACKETS.slice(at)];
      const { answer } = play(frames);
      // A read that is ahead of the packets makes those in between old; one that is behind is ignored.
      assert.deepEqual(shown(answer), shown(FINAL), `read of ${read} after ${at} packets`);
      assert.ok(answer.ended);
    }
  }
});

test("merged deltas show what single deltas show", () => {
  const merged = recordedRun({ texts: [FINAL.text] });
  assert.deepEqual(shown(play([...SUBSCRIBED, ...merged]).answer), shown(FINAL));
});

test("repeated packets change nothing", () => {
  const twice = PACKETS.flatMap((packet, i) => [packet, ...PACKETS.slice(0, i + 1)]);
  assert.deepEqual(shown(play([...SUBSCRIBED, ...twice]).answer), shown(FINAL));
});

test("a repeated packet leaves the state the same object", () => {
  const { state } = play([...SUBSCRIBED, ...PACKETS.slice(0, 5)]);
  assert.equal(fold(state, PACKETS[2])[0], state);
});

test("after any gap nothing is shown until the missing packets came again", () => {
  for (let lost = 0; lost < PACKETS.length - 1; lost += 1) {
    const torn = play([...SUBSCRIBED, ...PACKETS.slice(0, lost), ...PACKETS.slice(lost + 1)]);
    assert.ok(torn.effects.includes("resubscribe"), `packet ${lost + 1} lost`);
    assert.equal(torn.answer.seq, lost);
    const cursor = subscription(torn.state).cursors[RUN];
    assert.deepEqual(cursor, lost === 0 ? undefined : { attempt: 1, seq: lost });
    const healed = play(PACKETS.slice(cursor?.seq ?? 0), torn.state);
    assert.deepEqual(shown(healed.answer), shown(FINAL));
  }
});

test("a reset forgets what the run showed, at whatever point it comes", () => {
  const second = recordedRun({ attempt: 2, texts: ["another ", "answer"] });
  for (let at = 0; at < PACKETS.length; at += 1) {
    const reset = { type: "reset", run: RUN, attempt: 2, reason: "worker_lost" };
    const { answer, effects } = play([...SUBSCRIBED, ...PACKETS.slice(0, at), reset, ...second]);
    assert.equal(answer.text, "another answer");
    assert.equal(answer.attempt, 2);
    assert.ok(!effects.includes("resubscribe"));
  }
});

test("packets of an older attempt are ignored", () => {
  const second = recordedRun({ attempt: 2, texts: ["new"] });
  const { answer } = play([...SUBSCRIBED, ...second.slice(0, 8), ...PACKETS, ...second.slice(8)]);
  assert.equal(answer.text, "new");
});

test("a newer attempt that does not start at its first packet is asked for again", () => {
  const second = recordedRun({ attempt: 2, texts: ["new"] });
  const { effects, answer } = play([...SUBSCRIBED, ...PACKETS.slice(0, 8), second[3]]);
  assert.ok(effects.includes("resubscribe"));
  assert.equal(answer.attempt, 1);
});

test("a snapshot replaces what was shown and packets go on after it", () => {
  for (let at = 0; at < PACKETS.length; at += 1) {
    const snapshot = { type: "snapshot", run: RUN, attempt: 1, seq: at, message: messageAfter(PACKETS, at) };
    const { answer, effects } = play([...SUBSCRIBED, snapshot, ...PACKETS.slice(at)]);
    assert.deepEqual(shown(answer), shown(FINAL), `snapshot at ${at}`);
    assert.ok(!effects.includes("resubscribe"));
  }
});

test("a snapshot with seq 0 opens an attempt", () => {
  const message = { ...messageAfter(PACKETS, 3), text: "kept: " };
  const snapshot = { type: "snapshot", run: RUN, attempt: 2, seq: 0, message };
  const rest = recordedRun({ attempt: 2, texts: ["more"] });
  assert.equal(play([...SUBSCRIBED, ...PACKETS.slice(0, 4), snapshot, ...rest]).answer.text, "kept: more");
});

test("a finished message arrives as a snapshot and its stop", () => {
  const seq = PACKETS.length - 1;
  const snapshot = { type: "snapshot", run: RUN, attempt: 1, seq, message: FINAL };
  const { answer } = play([...SUBSCRIBED, snapshot, PACKETS.at(-1)]);
  assert.ok(answer.ended);
  assert.equal(answer.text, FINAL.text);
});

test("nothing changes after stop", () => {
  const { state } = play([...SUBSCRIBED, ...PACKETS]);
  const late = [
    { ...PACKETS[8], seq: PACKETS.length + 1 },
    { type: "reset", run: RUN, attempt: 2, reason: "late" },
    { type: "heartbeat", run: RUN },
    { type: "queued", run: RUN, position: 1 },
  ];
  for (const frame of late) assert.equal(fold(state, frame)[0], state, frame.type);
});

test("a final message read before its last packets ends the answer, and they are ignored", () => {
  const { answer, effects } = play([
    ...SUBSCRIBED,
    ...PACKETS.slice(0, 6),
    readAfter(PACKETS, PACKETS.length),
    ...PACKETS.slice(6),
  ]);
  assert.deepEqual(shown(answer), shown(FINAL));
  assert.ok(!effects.includes("resubscribe"));
});

for (const [reason, status] of [
  ["finished", "completed"],
  ["user_cancelled", "stopped"],
  ["error", "failed"],
]) {
  test(`stop with ${reason} makes the answer ${status}`, () => {
    assert.equal(play([...SUBSCRIBED, ...recordedRun({ reason })]).answer.status, status);
  });
}

test("an error is kept with its code and whether trying again helps", () => {
  const error = { type: "error", code: "upstream_timeout", message: "late", retryable: true };
  const packets = [PACKETS[0], { ...PACKETS[1], obj: error }];
  assert.deepEqual(play([...SUBSCRIBED, ...packets]).answer.error, {
    code: "upstream_timeout",
    message: "late",
    retryable: true,
  });
});

test("a packet of an unknown kind counts and shows nothing", () => {
  const packets = [PACKETS[0], { ...PACKETS[1], obj: { type: "of_a_later_release" } }];
  assert.equal(play([...SUBSCRIBED, ...packets]).answer.seq, 2);
});

test("the place in the queue and silence are shown until the next packet", () => {
  const taken = play([
    ...SUBSCRIBED,
    { type: "queued", run: RUN, position: 3 },
    { type: "queued", run: RUN, position: null },
  ]);
  assert.equal(taken.answer.position, null);
  const waiting = play([...SUBSCRIBED, { type: "queued", run: RUN, position: 3 }, { type: "heartbeat", run: RUN }]);
  assert.equal(waiting.answer.position, 3);
  assert.ok(waiting.answer.quiet);
  const { answer } = play(PACKETS.slice(0, 1), waiting.state);
  assert.equal(answer.position, null);
  assert.ok(!answer.quiet);
});

test("the first subscription is followed by a read; later ones are not, once it was read", () => {
  const first = play([subscribed(4)]);
  assert.deepEqual(first.effects, ["read"]);
  assert.equal(subscription(first.state).since, 4);
  assert.deepEqual(play([readAfter(PACKETS, PACKETS.length), subscribed(4)], first.state).effects, []);
});

test("a run the server no longer knows is read again", () => {
  const { state } = play([...SUBSCRIBED, readAfter(PACKETS, 0), ...PACKETS.slice(0, 5)]);
  assert.deepEqual(play([subscribed(1)], state).effects, ["read"]);
  assert.deepEqual(
    play([subscribed(1, [{ run: RUN, message: MESSAGE, model: "m1", model_index: 0 }])], state).effects,
    [],
  );
});

test("a turn started elsewhere is read once, and once only", () => {
  const { state, effects } = play([subscribed(), turnStarted(1), turnStarted(1)]);
  assert.equal(effects.filter((effect) => effect === "read").length, 2, "the first subscription, and the turn");
  assert.equal(state.n, 1);
});

test("a missing session event is asked for again", () => {
  const { state, effects } = play([subscribed(1), turnStarted(3)]);
  assert.ok(effects.includes("resubscribe"));
  assert.equal(state.n, 1);
  assert.equal(subscription(state).since, 1);
});

test("resync reads everything and goes on from there", () => {
  const { state, effects } = play([subscribed(1), { type: "resync", session: SESSION, n: 90 }]);
  assert.equal(state.n, 90);
  assert.ok(effects.includes("read"));
});

test("frames of another session and of unknown kinds change nothing", () => {
  const { state } = play(SUBSCRIBED);
  for (const frame of [{ ...PACKETS[0], session: "other" }, { type: "pong" }, { type: "constructor" }]) {
    assert.deepEqual(fold(state, frame), [state, []]);
  }
});

test("a packet of an unannounced run causes a new subscription", () => {
  assert.deepEqual(play([subscribed(), PACKETS[0]]).effects, ["read", "resubscribe"]);
});

test("a message is live until its stop", () => {
  const live = play([...SUBSCRIBED, readAfter(PACKETS, 3), ...PACKETS.slice(3, -1)]).state;
  assert.ok(isLive(live, live.branch.at(-1)));
  assert.ok(!isLive(live, live.branch[0]));
  const { state } = play([PACKETS.at(-1)], live);
  assert.ok(!isLive(state, state.branch.at(-1)));
});

test("ended runs are not named in the cursors", () => {
  assert.deepEqual(subscription(play([...SUBSCRIBED, ...PACKETS]).state).cursors, {});
});

const compression = (n, status) => ({ type: "compression", session: SESSION, n, status });
const summaryRead = (summary, is_under_way = false) => ({ type: "summary", session: SESSION, summary, is_under_way });
const SUMMARY = { id: "sum", last_summarized_message: "a", text: "They greeted.", saved_tokens: 12 };

test("a compression shows while it is under way, and its summary is read when it is done", () => {
  const started = play([subscribed(), compression(1, "started")]);
  assert.equal(started.state.compressing, "under_way");
  const done = play([compression(2, "done")], started.state);
  assert.deepEqual([done.state.compressing, done.effects], [null, ["summary"]]);
  assert.equal(play([summaryRead(SUMMARY)], done.state).state.summary, SUMMARY);
});

test("a compression that failed says so until the next one", () => {
  const { state, effects } = play([subscribed(), compression(1, "started"), compression(2, "failed")]);
  assert.equal(state.compressing, "failed");
  assert.ok(!effects.includes("summary"));
  assert.equal(play([compression(3, "started")], state).state.compressing, "under_way");
});

test("with a summary every read of the branch looks for it again, without one none does", () => {
  assert.deepEqual(play([readAfter(PACKETS, PACKETS.length)]).effects, []);
  const { state } = play([summaryRead(SUMMARY)]);
  assert.deepEqual(play([readAfter(PACKETS, PACKETS.length)], state).effects, ["summary"]);
  assert.equal(play([summaryRead(null)], state).state.summary, null);
});

test("the same summary read again is the same value", () => {
  const { state } = play([summaryRead(SUMMARY), summaryRead({ ...SUMMARY })]);
  assert.equal(state.summary, SUMMARY);
});

const CUT = recordedRun().map((packet) =>
  packet.obj.type === "stop"
    ? { ...packet, obj: { ...packet.obj, finish_reason: "length", finish_tokens: 4096 } }
    : packet,
);
const BEFORE = messageAfter(PACKETS, PACKETS.length);
const goesOn = { type: "run_continued", session: SESSION, n: 2, turn: "t", run: RUN, message: MESSAGE, attempt: 2 };
const opening = (attempt) => ({
  type: "snapshot",
  run: RUN,
  attempt,
  seq: 0,
  message: { ...BEFORE, status: "queued" },
});
const more = recordedRun({ attempt: 3, texts: [" and more"] }).filter(({ obj }) => !obj.type.startsWith("reasoning"));
const MORE = more.map((packet, i) => ({ ...packet, seq: i + 1 }));

test("an answer that was cut says so, from its packets and from its message", () => {
  const { answer } = play([...SUBSCRIBED, ...CUT]);
  assert.deepEqual(answer.cut, { reason: "length", tokens: 4096 });
  const read = { ...BEFORE, finish_reason: "content_filter" };
  const { answer: known } = play([...SUBSCRIBED, { type: "read", branch: [read] }]);
  assert.deepEqual(known.cut, { reason: "content_filter", tokens: null });
});

test("a continued answer goes on behind its text, in whatever order event and packets arrive", () => {
  const orders = [
    [goesOn, opening(2), opening(3), ...MORE],
    [opening(2), goesOn, opening(3), ...MORE],
    [opening(2), opening(3), ...MORE.slice(0, 2), goesOn, ...MORE.slice(2)],
    [opening(3), ...MORE, goesOn],
  ];
  for (const order of orders) {
    const { answer, effects } = play([...SUBSCRIBED, ...CUT, ...order]);
    assert.equal(answer.text, `${BEFORE.text} and more`);
    assert.deepEqual([answer.ended, answer.cut, answer.status], [true, null, "completed"]);
    assert.ok(!effects.includes("resubscribe"));
  }
});

test("while it is continued it is live, and says nothing of the cut", () => {
  const { state, answer } = play([...SUBSCRIBED, ...CUT, goesOn]);
  assert.deepEqual([answer.ended, answer.cut, answer.status], [false, null, "queued"]);
  assert.deepEqual(subscription(state).cursors, { [RUN]: { attempt: 1, seq: PACKETS.length } });
});

test("a read of the end before, arriving late, does not end the continuation for good", () => {
  const live = { ...BEFORE, status: "running", cursor: { attempt: 3, seq: 2 } };
  const read = (message) => ({ type: "read", branch: [message] });
  const { answer } = play([
    ...SUBSCRIBED,
    ...CUT,
    goesOn,
    opening(3),
    ...MORE.slice(0, 2),
    read(BEFORE),
    read(live),
    ...MORE.slice(2),
  ]);
  assert.deepEqual([answer.text, answer.ended], [`${BEFORE.text} and more`, true]);
});

test("a picture of a message that is read after the message gets its preview", () => {
  const file = { id: "f", name: "tide.png", kind: "image", token_count: 0, has_thumbnail: false };
  const read = { ...readAfter(PACKETS, PACKETS.length) };
  const [question, ...others] = read.branch;
  const { state } = play([{ ...read, branch: [{ ...question, files: [file] }, ...others] }]);
  const told = {
    type: "file",
    id: "f",
    name: "tide.png",
    kind: "image",
    status: "ready",
    token_count: 258,
    has_thumbnail: true,
  };
  const after = fold(state, told)[0];
  assert.deepEqual(after.branch[0].files, [{ ...file, token_count: 258, has_thumbnail: true }]);
  const rows = { table_rows: 120, shown_rows: 50 };
  assert.deepEqual(fold(state, { ...told, ...rows })[0].branch[0].files, [
    { ...file, token_count: 258, has_thumbnail: true, ...rows },
  ]);
  assert.equal(fold(state, { ...told, id: "other" })[0], state);
});

for (const late of [
  { type: "overall_stop", session: SESSION, n: 5, turn: "t", stop_reason: "finished" },
  { type: "compression", session: SESSION, n: 5, status: "started" },
]) {
  test(`a session is read although a late ${late.type} of its last view comes before the subscription`, () => {
    const { effects } = play([late, { ...subscribed(), n: 5, runs: [] }]);
    assert.ok(effects.includes("read"), String(effects));
  });
}
