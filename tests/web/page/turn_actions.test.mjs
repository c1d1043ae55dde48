import assert from "node:assert/strict";
import { test } from "node:test";

import { TurnActions } from "../../../web/static/chat/conversation/turn_actions.js";

const FIRST = { id: "q1", parent: "root", role: "user", text: "one" };
const LATER = { id: "q9", parent: "a8", role: "user", text: "nine" };

for (const [what, message, hasOlder] of [
  ["the first message of a chat", FIRST, false],
  ["the first one that was read of a long chat", LATER, true],
]) {
  test(`${what} is edited below the same message`, async () => {
    const posted = [];
    globalThis.document = { cookie: "" };
    globalThis.fetch = async (_, { body }) => {
      posted.push(JSON.parse(body));
      return { ok: true, status: 200, text: async () => JSON.stringify({ turn: "t", runs: [] }) };
    };
    const live = { state: { session: "s", branch: [message], hasOlder }, expect() {}, async read() {} };
    const turn = new TurnActions({ live: () => live, models: () => [], offered: () => [], failed: assert.fail });
    assert.equal(await turn.edit(message, "another"), true);
    assert.deepEqual(
      posted.map(({ parent, text }) => [parent, text]),
      [[message.parent, "another"]],
    );
  });
}
