import assert from "node:assert/strict";
import test from "node:test";

import { placesBetween, layOut, stepFrom } from "../../../web/static/chat/tree/tree_layout.js";

/** `u1<root a1<u1 …`, the latest child of a message being the last one named. */
function nodes(text) {
  const all = [{ id: "root", parent: null, role: "root" }];
  for (const pair of text.split(" ").filter(Boolean)) {
    const [id, parent] = pair.split("<");
    const role = { u: "user", a: "assistant", s: "summary" }[id[0]];
    all.push({ id, parent, role, latest_child: null });
    if (role !== "summary") all.find((node) => node.id === parent).latest_child = id;
  }
  return all;
}

const BRANCHING = "u1<root a1<u1 a2<u1 u2<a1 a3<u2 u3<a2 a4<u3 s1<u2";
const at = (layout, id) => layout.places.find(({ node }) => node.id === id);

test("a chain stands in one column, each message below the one it follows", () => {
  const { places } = layOut(nodes("u1<root a1<u1 u2<a1"));
  assert.equal(new Set(places.map(({ x }) => x)).size, 1);
  assert.deepEqual(
    places.map(({ node }) => node.id),
    ["root", "u1", "a1", "u2"],
  );
  assert.ok(places.every(({ y }, i) => i === 0 || y > places[i - 1].y));
});

test("no two messages stand in the same place, and all stand on the map", () => {
  const { places, width, height } = layOut(nodes(BRANCHING));
  assert.equal(new Set(places.map(({ x, y }) => `${x},${y}`)).size, places.length);
  assert.ok(places.every(({ x, y }) => x > 0 && x < width && y > 0 && y < height));
});

test("the current branch follows the latest children, to its leaf", () => {
  const layout = layOut(nodes(BRANCHING));
  assert.deepEqual(
    layout.places.filter(({ isCurrent }) => isCurrent).map(({ node }) => node.id),
    ["root", "u1", "a2", "u3", "a4"],
  );
  assert.equal(layout.leaf.node.id, "a4");
});

for (const [from, key, to] of [
  ["u1", "ArrowUp", undefined],
  ["u1", "ArrowDown", "a2"],
  ["a2", "ArrowLeft", "a1"],
  ["a1", "ArrowLeft", undefined],
  ["u2", "ArrowRight", "u3"],
  ["u2", "ArrowDown", "a3"],
  ["a3", "Home", "u1"],
  ["a3", "End", "a4"],
  ["a3", "x", undefined],
]) {
  test(`${key} from ${from} leads ${to ? `to ${to}` : "nowhere"}`, () => {
    const layout = layOut(nodes(BRANCHING));
    assert.equal(stepFrom(layout, at(layout, from), key)?.node.id, to);
  });
}

test("a session without messages, and one that was not read, have no places to go to", () => {
  assert.deepEqual(layOut([]).places, []);
  assert.equal(stepFrom(layOut(nodes("")), layOut(nodes("")).places[0], "ArrowDown"), null);
});

test("only what is in sight is found, in a long chain at once", () => {
  const long = Array.from(
    { length: 1000 },
    (_, i) => `${i % 2 ? "a" : "u"}${i}<${i ? `${i % 2 ? "u" : "a"}${i - 1}` : "root"}`,
  );
  const { places } = layOut(nodes(long.join(" ")));
  const seen = placesBetween(places, 3600, 7200);
  assert.equal(seen.length, 100);
  assert.ok(seen.every(({ y }) => y >= 3600 && y < 7200));
});
