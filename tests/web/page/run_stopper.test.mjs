import assert from "node:assert/strict";
import { test } from "node:test";

import { RunStopper } from "../../../web/static/chat/composer/run_stopper.js";
import { emptyState, fold } from "../../../web/static/chat/state/session_state.js";
import { RUN, SESSION, readAfter, recordedRun } from "./recorded.mjs";

const PACKETS = recordedRun();

/** An answer that is being written, and the stops that were sent. */
function writing() {
  let [state] = fold(emptyState(SESSION), readAfter(PACKETS, 3));
  /** @type {string[]} */
  const sent = [];
  const stopper = new RunStopper({ state: () => state, stopRun: async (run) => sent.push(run) > 0, changed() {} });
  const receive = (frame) => ([state] = fold(state, frame));
  return { stopper, sent, receive };
}

test("a stop that may have been lost with the connection is sent again with the next one", () => {
  const { stopper, sent } = writing();
  stopper.reconnected();
  assert.deepEqual(sent, []);
  stopper.stop();
  assert.deepEqual(stopper.now, { canStop: true, isStopping: true });
  stopper.reconnected();
  assert.deepEqual(sent, [RUN, RUN]);
});

test("a stop of an answer that has ended is not sent again", () => {
  const { stopper, sent, receive } = writing();
  stopper.stop();
  PACKETS.forEach(receive);
  stopper.reconnected();
  assert.deepEqual(sent, [RUN]);
});

test("after a rejected stop, another one can be requested; errors of commands with an id are not of stops", () => {
  const { stopper } = writing();
  stopper.stop();
  stopper.receive({ type: "error", id: "retried-1", code: "stream_unavailable" });
  assert.equal(stopper.now.isStopping, true);
  stopper.receive({ type: "error", code: "run_not_found" });
  assert.equal(stopper.now.isStopping, false);
});

test("an answer that went on after a stop can be stopped again, and is not by the stop before", () => {
  for (const end of [PACKETS.at(-1), { type: "run_continued", session: SESSION, run: RUN }]) {
    const { stopper, sent } = writing();
    stopper.stop();
    stopper.receive(end);
    assert.deepEqual(stopper.now, { canStop: true, isStopping: false });
    stopper.reconnected();
    assert.deepEqual(sent, [RUN]);
  }
});
