import assert from "node:assert/strict";
import { test } from "node:test";

import { requestedPause, isUnresponsive, backOff, pauseAfter } from "../../../web/static/chat/server/socket.js";

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
