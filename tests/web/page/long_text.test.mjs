import assert from "node:assert/strict";
import { test } from "node:test";

import { isLong } from "../../../web/static/chat/conversation/long_text.js";

test("texts of many lines and of long lines are folded, short ones are not", () => {
  assert.equal(isLong("word ".repeat(100)), false);
  assert.equal(isLong("line\n".repeat(22)), false);
  assert.equal(isLong("line\n".repeat(23)), true);
  assert.equal(isLong(`${"\n".repeat(50)}short${"\n".repeat(50)}`), false);
  assert.equal(isLong("x".repeat(5000)), true);
  assert.equal(isLong(`${"y".repeat(160)}\n`.repeat(8)), true);
});
