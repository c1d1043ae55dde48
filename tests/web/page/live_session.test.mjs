import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, beforeEach, test } from "node:test";

import { LiveSession } from "../../../web/static/chat/server/live_session.js";
import { RUN, SESSION, messageAfter, recordedRun } from "./recorded.mjs";

const PACKETS = recordedRun();
const ANSWER = { ...messageAfter(PACKETS, PACKETS.length), siblings: [] };
const BRANCH = [{ id: "u", parent: null, role: "user", text: "?", siblings: [] }, ANSWER];

/** A server whose next answers stop in the middle, as many as are in `cuts`. */
const cuts = { left: 0 };
const server = createServer((request, response) => {
  const body = JSON.stringify(request.url.includes("/compression/") ? { summary: null, is_under_way: false } : BRANCH);
  response.writeHead(200, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) });
  if (cuts.left === 0) return response.end(body);
  cuts.left -= 1;
  response.write(body.slice(0, body.length / 2), () => request.socket.destroy());
});
const { fetch } = globalThis;

before(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A page asks its own origin; Node has none.
  globalThis.fetch = (path, options) => fetch(`http://127.0.0.1:${server.address().port}${path}`, options);
});
after(() => server.close());
beforeEach(() => (cuts.left = 0));

/** @param {() => boolean} isTrue */
async function until(isTrue) {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 20));
}

function opened({ isConnected }) {
  const frames = [];
  const socket = { send: (object) => isConnected && frames.push(object) > 0 };
  const failures = [];
  const live = new LiveSession(SESSION, socket, { changed() {}, sessionsChanged() {}, failed: (error) => failures.push(error) });
  return { live, frames, failures };
}

test("a truncated response is read again", { timeout: 60_000 }, async () => {
  cuts.left = 1;
  const { live, failures } = opened({ isConnected: false });
  await until(() => live.state.branch !== null);
  live.close();
  assert.deepEqual(failures.map(({ status }) => status), [0]);
  assert.equal(live.state.branch.at(-1).text, ANSWER.text);
});

test("a gap is reported although another one has just been, and not for every packet", { timeout: 60_000 }, async () => {
  const { live, frames } = opened({ isConnected: true });
  const subscriptions = () => frames.filter(({ type }) => type === "subscribe").length;
  live.receive({ type: "subscribed", session: SESSION, n: 0, runs: [{ run: RUN, message: ANSWER.id, model: "m1", model_index: 0 }] });
  assert.equal(subscriptions(), 1);
  for (const packet of PACKETS.slice(3)) live.receive(packet);
  assert.equal(subscriptions(), 2);
  await until(() => subscriptions() === 3);
  live.close();
});
