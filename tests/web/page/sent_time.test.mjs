import assert from "node:assert/strict";
import test from "node:test";

import { sentText } from "../../../web/static/chat/elements/sent_time.js";

// Local times, and any kind of space before "AM".
const now = new Date(2026, 10, 24, 12, 0);
const text = (...parts) => sentText(new Date(...parts), now).replace(/\s/gu, " ");

test("a message of today shows the time of day", () => {
  assert.equal(text(2026, 10, 24, 0, 5), "12:05 AM");
});

test("a message of yesterday shows the date, even if it is minutes old", () => {
  assert.equal(
    sentText(new Date(2026, 10, 23, 23, 59), new Date(2026, 10, 24, 0, 1)).replace(/\s/gu, " "),
    "Nov 23, 11:59 PM",
  );
});

test("a message of another year shows the year", () => {
  assert.equal(text(2025, 10, 24, 9, 30), "Nov 24, 2025, 9:30 AM");
});
