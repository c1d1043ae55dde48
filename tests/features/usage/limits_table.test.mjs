import assert from "node:assert/strict";
import { test } from "node:test";

import { limitRows } from "../../../features/usage/static/chat/usage/usage_tables.js";

const use = (code, used, max, unit = code) => ({ code, used, max, unit, resets_at: null });

test("what has no limit, and what the page does not know, is left out; the order is the page's", () => {
  const rows = limitRows([
    use("sockets", 1, 50),
    use("agents", 3, null),
    use("sessions", 12, 10_000),
    use("later", 1, 2),
  ]);
  assert.deepEqual(
    rows.map(({ name, use: text }) => [name, text]),
    [
      ["Chats", "12 of 10,000"],
      ["Windows and programs connected", "1 of 50"],
    ],
  );
});

test("bytes are told in the unit that people read", () => {
  assert.equal(limitRows([use("stored_bytes", 1_572_864, 2 ** 30, "bytes")])[0].use, "1.5 MiB of 1 GiB");
});

test("from four fifths on a limit stands out", () => {
  assert.deepEqual(
    [use("agents", 79, 100), use("agents", 80, 100)].map((one) => limitRows([one])[0].isNearly),
    [false, true],
  );
});

test("what is partly estimated is marked", () => {
  assert.equal(
    limitRows([{ ...use("tokens_per_day", 900, 1000, "tokens"), is_estimated: true }])[0].use,
    "≈ 900 of 1,000",
  );
});
