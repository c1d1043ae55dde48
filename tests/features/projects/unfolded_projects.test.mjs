import assert from "node:assert/strict";
import { test } from "node:test";

import { UnfoldedProjects } from "../../../features/projects/static/chat/projects/project_list.js";

const storage = (kept = null) => {
  const items = { kept };
  return { getItem: () => items.kept, setItem: (_key, value) => (items.kept = value) };
};

test("what was unfolded is so after a reload", () => {
  const browser = storage();
  const first = new UnfoldedProjects(browser);
  first.set("a", true);
  first.set("b", true);
  first.set("a", false);
  const second = new UnfoldedProjects(browser);
  assert.deepEqual(
    ["a", "b"].map((id) => second.has(id)),
    [false, true],
  );
});

test("what the storage has been filled with by others is left out", () => {
  for (const kept of ["{", "7", '{"a": 1}', "[1, null]"]) assert.deepEqual(new UnfoldedProjects(storage(kept)).ids, []);
});

test("the oldest are forgotten", () => {
  const unfolded = new UnfoldedProjects(storage());
  for (let n = 0; n <= 100; n += 1) unfolded.set(String(n), true);
  assert.equal(unfolded.has("0"), false);
  assert.equal(unfolded.ids.length, 100);
});

test("without storage it lasts as long as the page", () => {
  const full = {
    getItem: () => null,
    setItem: () => {
      throw new Error("full");
    },
  };
  const unfolded = new UnfoldedProjects(full);
  unfolded.set("a", true);
  assert.equal(unfolded.has("a"), true);
});
