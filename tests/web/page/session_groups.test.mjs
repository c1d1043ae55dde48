import assert from "node:assert/strict";
import { test } from "node:test";

import { groupSessions } from "../../../web/static/chat/sessions/session_list.js";

const NOW = new Date(2026, 2, 31, 0, 30); // half past midnight, two days after clocks went forward in Europe

const used = (...parts) => ({ id: parts.join("-"), updated_at: new Date(...parts).toISOString() });
const kinds = (...sessions) => groupSessions(sessions, NOW).map(({ kind, sessions: inside }) => [kind, inside.length]);

test("days are calendar days, not spans of 24 hours", () => {
  assert.deepEqual(kinds(used(2026, 2, 31, 0, 10), used(2026, 2, 30, 23, 50), used(2026, 2, 30, 0, 0)), [
    ["today", 1],
    ["yesterday", 2],
  ]);
});

for (const [parts, kind] of [
  [[2026, 2, 31, 12], "today"],
  [[2026, 3, 1, 0], "today"],
  [[2026, 2, 29, 23], "week"],
  [[2026, 2, 24, 0], "week"],
  [[2026, 2, 23, 23], "thirty_days"],
  [[2026, 2, 1, 0], "thirty_days"],
  [[2026, 1, 28, 23], "month"],
  [[2025, 2, 30, 12], "month"],
]) {
  test(`${parts.join("-")} is in ${kind}`, () => assert.deepEqual(kinds(used(...parts)), [[kind, 1]]));
}

test("months are apart, the same month of another year too", () => {
  const groups = groupSessions([used(2026, 1, 9), used(2026, 1, 2), used(2026, 0, 31), used(2025, 1, 9)], NOW);
  assert.deepEqual(
    groups.map(({ month, sessions }) => [month.getFullYear(), month.getMonth(), sessions.length]),
    [
      [2026, 1, 2],
      [2026, 0, 1],
      [2025, 1, 1],
    ],
  );
});

test("nothing has no groups", () => assert.deepEqual(groupSessions([], NOW), []));
