import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, beforeEach, mock, test } from "node:test";

import { LiveSession } from "../../../web/static/chat/server/live_session.js";
import { RUN, SESSION, messageAfter, recordedRun } from "./recorded.mjs";

const PACKETS = recordedRun();
const ANSWER = { ...messageAfter(PACKETS, PACKETS.length), siblings: [] };
const BRANCH = [{ id: "u", parent: null, role: "user", text: "?", siblings: [] }, ANSWER];

/** A server whose next answers stop in the middle, as many as are in `cuts`, or are those of `refusals`. */
const cuts = { left: 0 };
/** Status and headers. @type {[number, Record<string, string>][]} */
const refusals = [];
const server = createServer((request, response) => {
  const [status, headers] = refusals.shift() ?? [];
  if (status) return response.writeHead(status, headers).end("{}");
  const body = JSON.stringify(request.url.includes("/compression/") ? { summary: null, is_under_way: false } : BRANCH);
  response.writeHead(200, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) });
  if (cuts.left === 0) return response.end(body);
  cuts.left -= 1;
  response.write(body.slice(0, body.length / 2), () => request.socket.destroy());
});
const { fetch } = globalThis;

before(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A page asks its own origin; Node has none.
  globalThis.fetch = (path, options) => fetch(`http://127.0.0.1:${server.address().port}${path}`, options);
});
after(() => server.close());
beforeEach(() => {
  cuts.left = 0;
  refusals.length = 0;
});

/** @param {() => boolean} isTrue */
async function until(isTrue) {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 20));
}

function opened({ isConnected }) {
  const frames = [];
  const socket = { send: (object) => isConnected && frames.push(object) > 0 };
  const failures = [];
  const ends = [];
  const live = new LiveSession(SESSION, socket, {
    changed() {},
    sessionsChanged() {},
    turnEnded: (reason) => ends.push(reason),
    failed: (error) => failures.push(error),
  });
  return { live, frames, failures, ends };
}

test("a truncated response is read again", { timeout: 60_000 }, async () => {
  cuts.left = 1;
  const { live, failures } = opened({ isConnected: false });
  await until(() => live.state.branch !== null);
  live.close();
  assert.deepEqual(
    failures.map(({ status }) => status),
    [0],
  );
  assert.equal(live.state.branch.at(-1).text, ANSWER.text);
});

test(
  "a gap is reported although another one has just been, and not for every packet",
  { timeout: 60_000 },
  async () => {
    const { live, frames } = opened({ isConnected: true });
    const subscriptions = () => frames.filter(({ type }) => type === "subscribe").length;
    live.receive({
      type: "subscribed",
      session: SESSION,
      n: 0,
      runs: [{ run: RUN, message: ANSWER.id, model: "m1", model_index: 0 }],
    });
    assert.equal(subscriptions(), 1);
    for (const packet of PACKETS.slice(3)) live.receive(packet);
    assert.equal(subscriptions(), 2);
    await until(() => subscriptions() === 3);
    live.close();
  },
);

const RUNS = [{ id: RUN, message: ANSWER.id, model: "m1", model_index: 0 }];

test("the end of a turn is told once, and not after the session was closed", () => {
  const { live, ends } = opened({ isConnected: true });
  live.receive({ type: "subscribed", session: SESSION, n: 4, runs: [] });
  live.receive({ type: "turn_started", session: SESSION, n: 5, turn: "t", user_message: "u", runs: RUNS });
  for (const packet of PACKETS.slice(0, -1)) live.receive(packet);
  assert.deepEqual(ends, []);
  live.receive(PACKETS.at(-1));
  live.receive(PACKETS.at(-1));
  live.receive({ type: "overall_stop", session: SESSION, n: 6, turn: "t", stop_reason: "finished" });
  assert.deepEqual(ends, ["finished"]);
  live.receive({
    type: "turn_started",
    session: SESSION,
    n: 7,
    turn: "t2",
    user_message: "u",
    runs: [{ ...RUNS[0], id: "r2" }],
  });
  live.close();
  for (const packet of PACKETS) live.receive({ ...packet, run: "r2" });
  assert.deepEqual(ends, ["finished"]);
});

test("a turn of several models ends with the last, and as stopped if any was stopped", () => {
  const { live, ends } = opened({ isConnected: true });
  const runs = ["r1", "r2"].map((id, i) => ({ ...RUNS[0], id, message: id, model_index: i }));
  const reply = (run, reason) => recordedRun({ reason }).forEach((packet) => live.receive({ ...packet, run }));
  live.receive({ type: "subscribed", session: SESSION, n: 4, runs: [] });
  live.receive({ type: "turn_started", session: SESSION, n: 5, turn: "t", user_message: "u", runs });
  reply("r2", "user_cancelled");
  assert.deepEqual(ends, []);
  reply("r1", "error");
  assert.deepEqual(ends, ["user_cancelled"]);
});

test(
  "a sent turn that ended before the subscription, or while the connection was lost, is told by what is read",
  { timeout: 60_000 },
  async () => {
    const { live, ends } = opened({ isConnected: false });
    live.expect({ turn: "t", runs: RUNS });
    await live.read();
    live.close();
    assert.deepEqual(ends, ["finished"]);
  },
);

test("what was complete before the chat was opened is not told", { timeout: 60_000 }, async () => {
  const { live, ends } = opened({ isConnected: false });
  await live.read();
  live.expect({ turn: "t", runs: RUNS });
  await live.read();
  live.close();
  assert.deepEqual(ends, []);
});

test("a rejected subscription is made again, and what is stored is shown meanwhile", { timeout: 60_000 }, async () => {
  const { live, frames } = opened({ isConnected: true });
  const subscriptions = () => frames.filter(({ type }) => type === "subscribe");
  live.receive({ type: "error", id: subscriptions()[0].id, code: "stream_unavailable", message: "" });
  await until(() => live.state.branch !== null && subscriptions().length === 2);
  live.close();
});

test("a chat that does not exist is not subscribed to again, nor read", { timeout: 60_000 }, async () => {
  const { live, frames } = opened({ isConnected: true });
  live.receive({ type: "error", id: frames[0].id, code: "session_not_found", message: "" });
  assert.equal(live.reading, null);
  assert.equal(live.subscribing.timer, 0);
  live.close();
});

for (const [status, isReadAgain] of [
  [503, true],
  [429, true],
  [404, false],
]) {
  test(
    `older messages that were refused with ${status} are ${isReadAgain ? "" : "not "}asked for again`,
    { timeout: 60_000 },
    async () => {
      const { live, failures } = opened({ isConnected: true });
      live.state = { ...live.state, branch: BRANCH, hasOlder: true };
      refusals.push([status, {}]);
      assert.equal(await live.readOlder(), !isReadAgain);
      assert.deepEqual(
        failures.map((failure) => failure.status),
        [status],
      );
      live.close();
    },
  );
}

for (const status of [408, 429, 503]) {
  test(`a read that was refused with ${status} is made again`, { timeout: 60_000 }, async () => {
    refusals.push([status, {}]);
    const { live, failures } = opened({ isConnected: false });
    await until(() => live.state.branch !== null);
    live.close();
    assert.deepEqual(
      failures.map((failure) => failure.status),
      [status],
    );
  });
}

test(
  "a read that was refused is made again when the server says, and never after a final refusal",
  { timeout: 60_000 },
  async () => {
    for (const [status, headers, pauses] of [
      [429, { "Retry-After": "7" }, [7_000]],
      [503, { "Retry-After": "1" }, [2_000]],
      [503, { "Retry-After": "Fri, 27 Nov 2026 17:00:00 GMT" }, [2_000]],
      [404, {}, []],
    ]) {
      refusals.push([status, headers]);
      const begun = mock.method(globalThis, "setTimeout");
      const { live, failures } = opened({ isConnected: false });
      await live.reading;
      const own = begun.mock.calls.filter(({ result }) => live.timers.has(result));
      begun.mock.restore();
      live.close();
      assert.deepEqual(
        failures.map((failure) => failure.status),
        [status],
      );
      assert.deepEqual(
        own.map((call) => call.arguments[1]),
        pauses,
        String(status),
      );
    }
  },
);
