import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { LimitStatus } from "../../../features/usage/static/chat/usage/limit_status.js";
import { byModel, limitRows } from "../../../features/usage/static/chat/usage/usage_tables.js";

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

/** Its timers are mocked, the machine's time is not. */
async function seen(is) {
  for (const end = Date.now() + 30_000; !is() && Date.now() < end;) await new Promise(setImmediate);
}

test("a limit that is set later is shown within an hour", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const [answers, element] = [[[], [use("stored_bytes", 9, 10, "bytes")]], { hidden: true, textContent: "" }];
  globalThis.fetch = async () => ({ ok: true, status: 200, text: async () => JSON.stringify(answers.shift()) });
  const status = new LimitStatus(element);
  await seen(() => !status.hasLimits);
  assert.equal(element.hidden, true);
  mock.timers.tick(3_600_000);
  await seen(() => !element.hidden);
  assert.match(element.textContent, /90%/);
  mock.timers.reset();
});

test("a daily limit that is raised is not shown for longer than an hour", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const resets_at = new Date(Date.now() + 80_000_000).toISOString();
  const element = { hidden: true, textContent: "" };
  const answers = [10, 100].map((max) => [{ ...use("tokens_per_day", 9, max, "tokens"), resets_at }]);
  globalThis.fetch = async () => ({ ok: true, status: 200, text: async () => JSON.stringify(answers.shift()) });
  new LimitStatus(element);
  await seen(() => !element.hidden);
  assert.match(element.textContent, /90%/);
  mock.timers.tick(3_600_000);
  await seen(() => element.hidden);
  assert.equal(element.hidden, true);
  mock.timers.reset();
});
