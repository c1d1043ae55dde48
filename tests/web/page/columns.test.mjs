import assert from "node:assert/strict";
import { test } from "node:test";

import { columnsOf, shownMessages, versionsOf } from "../../../web/static/chat/state/branch.js";
import { emptyState, fold } from "../../../web/static/chat/state/session_state.js";

const question = { id: "q", parent: "root", role: "user", text: "Compare", siblings: ["q"] };
const answer = (id, column, attempts, more = {}) => ({
  id,
  parent: "q",
  role: "assistant",
  text: id,
  run: `run ${id}`,
  status: "completed",
  model: `m${column}`,
  column,
  attempts,
  siblings: ["a", "b", "c", "b2", "old"],
  ...more,
});
const b2 = answer("b2", 1, ["b", "b2"]);
const c = answer("c", 2, ["c"]);
const tip = answer("a", 0, ["a"], { alongside: [b2, c] });
const read = (branch) => fold(emptyState("s"), { type: "read", session: "s", branch })[0];
const ids = (messages) => messages.map(({ id }) => id);

test("the answers of a turn stand in the order of their columns, whichever is chosen", () => {
  const chosen = { ...c, alongside: [{ ...tip, alongside: undefined }, b2] };
  assert.deepEqual(ids(columnsOf(emptyState("s"), tip)), ["a", "b2", "c"]);
  assert.deepEqual(ids(columnsOf(emptyState("s"), chosen)), ["a", "b2", "c"]);
  assert.deepEqual(ids(shownMessages(read([question, tip]))), ["q", "a", "b2", "c"]);
});

test("the switch of a column goes between its attempts, that of the chosen one to other turns too", () => {
  assert.deepEqual(versionsOf(b2, true), ["b", "b2"]);
  assert.deepEqual(versionsOf(tip, false), ["a", "old"]);
  assert.deepEqual(versionsOf(question, false), ["q"]);
});

test("an earlier attempt is shown in its column until the column is answered again", () => {
  const b = answer("b", 1, ["b", "b2"]);
  const [peeking] = fold(read([question, tip]), { type: "peek", session: "s", message: b });
  assert.deepEqual(ids(columnsOf(peeking, tip)), ["a", "b", "c"]);
  const [other] = fold(peeking, {
    type: "turn_started",
    session: "s",
    n: 1,
    turn: "t",
    user_message: "another",
    runs: [],
  });
  assert.deepEqual(ids(columnsOf(other, tip)), ["a", "b", "c"]);
  const [again] = fold(peeking, { type: "turn_started", session: "s", n: 1, turn: "t", user_message: "q", runs: [] });
  assert.deepEqual(ids(columnsOf(again, tip)), ["a", "b2", "c"]);
});

test("packets reach an answer beside the branch, in older messages too", () => {
  const live = { ...b2, status: "running", text: "so ", cursor: { attempt: 1, seq: 4 } };
  const packet = {
    type: "packet",
    session: "s",
    run: "run b2",
    attempt: 1,
    seq: 5,
    obj: { type: "message_delta", text: "far" },
  };
  const below = { ...question, id: "q2", parent: "a" };
  const [older] = fold(read([below]), {
    type: "older",
    session: "s",
    first: "q2",
    branch: [question, { ...tip, alongside: [live, c] }],
  });
  assert.equal(fold(older, packet)[0].answers["run b2"].text, "so far");
  const [reread] = fold(read([question, tip, below]), {
    type: "reread",
    session: "s",
    message: { ...tip, alongside: [live, c] },
  });
  assert.equal(fold(reread, packet)[0].answers["run b2"].text, "so far");
  assert.deepEqual(ids(reread.branch), ["q", "a", "q2"]);
});
