import assert from "node:assert/strict";
import { test } from "node:test";

import { PAGE, isConnected } from "../../../web/static/chat/state/branch.js";
import { emptyState, fold } from "../../../web/static/chat/state/session_state.js";

/** Messages `from`…`to` of a branch: each hangs on the one before it. */
const run = (from, to, name = "m") =>
  Array.from({ length: to - from + 1 }, (_, i) => ({
    id: `${name}${from + i}`,
    parent: `${name}${from + i - 1}`,
    role: "user",
    text: "",
  }));
const read = (branch, isWhole = false) => ({ type: "read", session: "s", branch, alongside: [], isWhole });
const older = (first, branch) => ({ type: "older", session: "s", first, branch, limit: PAGE });
const ids = ({ branch }) => `${branch[0].id}…${branch.at(-1).id} of ${branch.length}`;

function play(...frames) {
  return frames.reduce((state, frame) => fold(state, frame)[0], emptyState("s"));
}

test("a short branch is there as a whole", () => {
  const state = play(read(run(1, 4), true));
  assert.equal(ids(state), "m1…m4 of 4");
  assert.equal(state.hasOlder, false);
});

test("pages above are put above, until there is none", () => {
  const state = play(read(run(101, 150)), older("m101", run(51, 100)));
  assert.equal(ids(state), "m51…m150 of 100");
  assert.equal(state.hasOlder, true);
  const [whole] = fold(state, older("m51", run(1, PAGE - 1)));
  assert.equal(whole.hasOlder, false);
});

test("what was read above stays when the newest page is read again, with or without new messages", () => {
  const known = play(read(run(101, 150)), older("m101", run(51, 100)));
  for (const page of [run(101, 150), run(103, 152), run(120, 152)]) {
    const [state] = fold(known, read(page));
    assert.equal(state.branch[0].id, "m51");
    assert.equal(state.branch.length, Number(page.at(-1).id.slice(1)) - 50);
    assert.equal(state.hasOlder, true);
  }
});

test("another branch takes the place of what it left", () => {
  const known = play(read(run(1, 40), true));
  const other = [{ id: "x1", parent: "m10", role: "user", text: "" }, ...run(2, 3, "x")];
  assert.equal(ids(fold(known, read(other))[0]), "m1…x3 of 13");
  assert.equal(ids(fold(known, read(run(5, 60, "y")))[0]), "y5…y60 of 56");
  assert.equal(fold(known, read(run(5, 60, "y")))[0].hasOlder, true);
});

test("a page above a beginning that is no longer there changes nothing", () => {
  const known = play(read(run(101, 150)));
  assert.equal(fold(known, older("gone", run(51, 100)))[0], known);
});

test("a page is of the known branch if it hangs on it", () => {
  assert.ok(isConnected(run(1, 50), run(30, 60)));
  assert.ok(isConnected(run(10, 50), run(10, 60)));
  assert.ok(!isConnected(run(10, 50), run(5, 60, "x")));
});
