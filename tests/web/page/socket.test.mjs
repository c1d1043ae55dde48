import assert from "node:assert/strict";
import { test } from "node:test";

import { askedPause, isGivenUp, ownPause } from "../../../web/static/chat/server/socket.js";

test("a server that restarts says when to come back", () => {
  assert.equal(askedPause("restart; retry_after_s=0.42"), 420);
  assert.equal(askedPause("restart; retry_after_s=3"), 3000);
});

test("nobody is sent away for long", () => assert.equal(askedPause("restart; retry_after_s=86400"), 10_000));

test("a close without a hint leaves the pause to the page", () => {
  assert.equal(askedPause(""), null);
  assert.equal(askedPause("restart"), null);
});

test("pauses grow up to a limit, half of each by chance", () => {
  assert.deepEqual([ownPause(0, 0), ownPause(0, 1), ownPause(1, 1)], [150, 300, 600]);
  assert.deepEqual([ownPause(50, 0), ownPause(50, 1)], [5_000, 10_000]);
});

test("a handshake is not waited for as long as the next word on a line that works", () => {
  assert.deepEqual([9_000, 11_000, 36_000].map((silentMs) => isGivenUp(false, silentMs)), [false, true, true]);
  assert.deepEqual([9_000, 11_000, 36_000].map((silentMs) => isGivenUp(true, silentMs)), [false, false, true]);
});
