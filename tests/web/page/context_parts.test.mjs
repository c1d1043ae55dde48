import assert from "node:assert/strict";
import { test } from "node:test";

import {
  compressionText,
  levelOf,
  measuredRuns,
  partsOf,
  shareOf,
} from "../../../web/static/chat/frame/context_meter.js";
import { emptyState } from "../../../web/static/chat/state/session_state.js";
import { emptyAnswer } from "../../../web/static/chat/state/answer.js";

const usage = (/** @type {object} */ fields) => ({
  window: 1000,
  reserved: 200,
  system: 100,
  tools: 0,
  summary: 0,
  history: 250,
  files: 0,
  question: 50,
  used: 400,
  free: 400,
  compression: { history: 300, limit: 500, keeps_from: null },
  ...fields,
});
const question = (/** @type {string} */ id) => ({ id, role: "user", text: "?" });
const answer = (/** @type {string} */ id, /** @type {object} */ fields = {}) => ({
  id,
  parent: "u",
  role: "assistant",
  text: ".",
  status: "completed",
  run: `run of ${id}`,
  column: 0,
  ...fields,
});
const state = (/** @type {any[]} */ ...branch) => ({ ...emptyState("s"), branch });
const runsOf = (/** @type {any} */ state) => measuredRuns(state).map(({ run }) => run);

test("the share is that of what requests may use, beside what is reserved for the answer", () => {
  assert.equal(shareOf(usage({})), 0.5);
  assert.equal(shareOf(usage({ used: 5000 })), 1);
  assert.deepEqual([usage({}), usage({ used: 720 })].map(levelOf), ["low", "high"]);
});

test("parts without tokens are left out, but not the free rest", () => {
  assert.deepEqual(
    partsOf(usage({ free: 0 })).map(({ part }) => part),
    ["system", "history", "question", "reserved", "free"],
  );
});

test("the text says whether the beginning is due to be summarised", () => {
  assert.match(compressionText(usage({})), /once the conversation has more than 500/);
  assert.match(compressionText(usage({ compression: { history: 501, limit: 500, keeps_from: "u" } })), /is summarised/);
});

test("the newest answers that have ended are measured, all those side by side, and none that is written", () => {
  assert.deepEqual(runsOf(state()), []);
  assert.deepEqual(runsOf(state(question("u"), answer("a"))), ["run of a"]);
  assert.deepEqual(runsOf(state(question("u"), answer("a", { alongside: [answer("b", { column: 1 })] }))), [
    "run of a",
    "run of b",
  ]);
  const waiting = answer("c", { parent: "v", status: "queued" });
  assert.deepEqual(runsOf(state(question("u"), answer("a"), question("v"), waiting)), ["run of a"]);
});

test("an answer that was continued is measured again", () => {
  const before = state(question("u"), answer("a"));
  const written = {
    ...emptyAnswer({ run: "run of a", message: "a", model: "m", model_index: 0 }),
    attempt: 2,
    ended: true,
  };
  const after = { ...before, answers: { "run of a": written } };
  assert.notDeepEqual(measuredRuns(before), measuredRuns(after));
});

test("an answer without a run, as an edited one, leaves those of the answer before", () => {
  const edited = { id: "e", role: "assistant", text: ".", status: "completed" };
  assert.deepEqual(runsOf(state(question("u"), answer("a"), question("v"), edited)), ["run of a"]);
});
