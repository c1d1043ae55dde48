import assert from "node:assert/strict";
import test from "node:test";

import { byModel } from "../../../features/usage/static/chat/usage/usage_tables.js";

const day = (model, runs, cost) => ({
  model,
  runs,
  prompt_tokens: 10 * runs,
  completion_tokens: runs,
  estimated_tokens: runs,
  cost,
});

test("the days of a model are one line, the most used model first", () => {
  const rows = byModel([day("quick", 1, null), day("deep", 2, 0.5), day("deep", 3, 0.25)]);
  assert.deepEqual(rows, [day("deep", 5, 0.75), day("quick", 1, null)]);
});

test("a price that is known for some days only counts for those; without any there is no cost", () => {
  assert.equal(byModel([day("quick", 1, null), day("quick", 1, 0.1)])[0].cost, 0.1);
  assert.equal(byModel([day("quick", 1, null), day("quick", 1, null)])[0].cost, null);
  assert.deepEqual(byModel([]), []);
});
