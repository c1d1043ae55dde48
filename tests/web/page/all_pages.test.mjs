import assert from "node:assert/strict";
import { test } from "node:test";

import { readAllPages } from "../../../web/static/chat/server/api.js";

globalThis.location = { origin: "https://chat.example.com" };

test("a list is read as far as its pages lead on, however short they are", async () => {
  const asked = [];
  globalThis.fetch = async (address) => {
    asked.push(address);
    const link =
      asked.length < 3 ? `<https://chat.example.com/api/agents/?before=${asked.length}&limit=200>; rel="next"` : null;
    return {
      ok: true,
      status: 200,
      headers: { get: (name) => (name === "Link" ? link : null) },
      text: async () => JSON.stringify([{ id: asked.length }]),
    };
  };
  assert.deepEqual(await readAllPages("agents/"), [{ id: 1 }, { id: 2 }, { id: 3 }]);
  assert.deepEqual(asked, [
    "/api/agents/?limit=200",
    "/api/agents/?before=1&limit=200",
    "/api/agents/?before=2&limit=200",
  ]);
});
