import assert from "node:assert/strict";
import { test, afterEach, beforeEach, mock } from "node:test";

import {
  requestedPause,
  isUnresponsive,
  backOff,
  pauseAfter,
  RetriedCommand,
} from "../../../web/static/chat/server/socket.js";

test("a server that restarts says when to come back", () => {
  assert.equal(requestedPause("restart; retry_after_s=0.42"), 420);
  assert.equal(requestedPause("restart; retry_after_s=3"), 3000);
});

test("the requested pause is limited", () => assert.equal(requestedPause("restart; retry_after_s=86400"), 10_000));

test("a close without a hint leaves the pause to the page", () => {
  assert.equal(requestedPause(""), null);
  assert.equal(requestedPause("restart"), null);
});

test("pauses grow up to a limit, half of each by chance", () => {
  assert.deepEqual([backOff(0, 0), backOff(0, 1), backOff(1, 1)], [150, 300, 600]);
  assert.deepEqual([backOff(50, 0), backOff(50, 1)], [5_000, 10_000]);
});

test("a handshake is not waited for as long as the next word on a line that works", () => {
  assert.deepEqual(
    [9_000, 11_000, 36_000].map((silentMs) => isUnresponsive(false, silentMs)),
    [false, true, true],
  );
  assert.deepEqual(
    [9_000, 11_000, 36_000].map((silentMs) => isUnresponsive(true, silentMs)),
    [false, false, true],
  );
});

test("a window too many tries again rarely, however often it was refused", () => {
  for (const failures of [0, 1, 50]) {
    const pause = pauseAfter(4430, "", failures);
    assert.ok(30_000 <= pause && pause <= 60_000, String(pause));
  }
});

const LONGEST_MS = 30_000;

beforeEach(() => mock.timers.enable({ apis: ["setTimeout"] }));
afterEach(() => mock.timers.reset());

function sent() {
  const frames = [];
  const rejected = mock.fn();
  let since = 0;
  const command = new RetriedCommand(
    { send: (frame) => frames.push(frame) > 0 },
    () => ({ type: "subscribe", since: (since += 1) }),
    rejected,
  );
  command.send();
  const reject = (code) => command.receive({ type: "error", id: frames.at(-1).id, code });
  return { command, frames, rejected, reject };
}

for (const code of ["stream_unavailable", "unavailable", "internal_error", "rate_limited"]) {
  test(`a command that was rejected because of ${code} is sent again, as it is then`, () => {
    const { frames, rejected, reject } = sent();
    reject(code);
    assert.equal(frames.length, 1, "not at once");
    assert.equal(rejected.mock.callCount(), 1);
    mock.timers.tick(LONGEST_MS);
    assert.deepEqual(
      frames.map(({ since }) => since),
      [1, 2],
    );
  });
}

for (const code of ["session_not_found", "permission_denied", "invalid_cursor"]) {
  test(`a command that was rejected because of ${code} is not sent again`, () => {
    const { frames, rejected, reject } = sent();
    reject(code);
    mock.timers.tick(LONGEST_MS);
    assert.equal(frames.length, 1);
    assert.equal(rejected.mock.callCount(), 0);
  });
}

test("pauses grow up to a limit, and begin anew after a success", () => {
  const { command, frames, reject } = sent();
  const pause = () => {
    const before = frames.length;
    reject("stream_unavailable");
    for (let ms = 0; ; ms += 1) {
      if (frames.length > before) return ms;
      mock.timers.tick(1);
    }
  };
  const pauses = Array.from({ length: 8 }, pause);
  assert.ok(pauses[0] <= 1_000 && pauses[7] >= 15_000 && Math.max(...pauses) <= LONGEST_MS, String(pauses));
  command.receive({ type: "subscribed", id: frames.at(-1).id });
  assert.ok(pause() <= 1_000);
});

test("a command that was sent meanwhile, or is not wanted any more, is not repeated", () => {
  const { command, frames, reject } = sent();
  reject("stream_unavailable");
  command.send();
  mock.timers.tick(LONGEST_MS);
  assert.equal(frames.length, 2);
  reject("stream_unavailable");
  command.close();
  mock.timers.tick(LONGEST_MS);
  assert.equal(frames.length, 2);
});

test("errors of other commands, and of the same command of another view, change nothing", () => {
  const { command, frames, rejected } = sent();
  const other = sent();
  command.receive({ type: "error", code: "stream_unavailable" });
  command.receive({ type: "error", id: other.frames[0].id, code: "stream_unavailable" });
  mock.timers.tick(LONGEST_MS);
  assert.equal(frames.length, 1);
  assert.equal(rejected.mock.callCount(), 0);
});
