import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { MessageSender, shortened } from "../../../web/static/chat/composer/message_sender.js";
import { TurnActions } from "../../../web/static/chat/conversation/turn_actions.js";
import { LiveSession } from "../../../web/static/chat/server/live_session.js";

/** What was posted: path and body. @type {[string, any][]} */
let posted = [];

/** The addresses of what was read. @type {string[]} */
let read = [];

beforeEach(() => {
  posted = [];
  read = [];
  globalThis.document = { cookie: "" };
  globalThis.fetch = async (address, { method, body }) => {
    if (method === "GET") read.push(address);
    else posted.push([address, JSON.parse(body)]);
    const answer =
      method === "GET"
        ? address.includes("/compression/")
          ? { summary: null, is_under_way: false }
          : []
        : address === "/api/sessions/"
          ? { id: "new" }
          : { turn: "t", runs: [] };
    return { ok: true, status: 200, text: async () => JSON.stringify(answer) };
  };
});

const live = (id) =>
  id &&
  new LiveSession(
    id,
    { send: () => true },
    { changed() {}, sessionsChanged() {}, turnEnded() {}, failed: assert.fail },
  );

/** A page that shows a chat and does not know yet who can answer. @param {string|null} id */
function page(id) {
  let known = () => {};
  const now = { live: live(id), project: null, models: [`model of ${id}`] };
  const answering = {
    ready: new Promise((resolve) => (known = resolve)),
    get models() {
      return now.models;
    },
    forNew: null,
    basesForNew: [],
    tool: { chosen: null, choose: (tool) => (answering.tool.chosen = tool) },
    bases: { picked: [], pick: (picked) => (answering.bases.picked = picked) },
    options: {
      ofNextMessage: null,
      ofNewChat: {},
      sendNextWith: (options) => (answering.options.ofNextMessage = options),
    },
  };
  const attempt = (action) => action().then(() => true, assert.fail);
  const turn = new TurnActions({
    live: () => now.live,
    models: () => now.models,
    offered: () => [],
    failed: assert.fail,
  });
  const sender = new MessageSender({
    live: () => now.live,
    answering,
    turn,
    project: () => now.project,
    isTemporary: () => false,
    place: () => now,
    isNamedLater: false,
    created: ({ id }) => (now.live ??= live(id)),
    giveBack() {},
    attempt,
    changed() {},
  });
  const open = (id) => Object.assign(now, { live: live(id), models: [`model of ${id}`] });
  return { sender, answering, now, open, known };
}

test("a message of a chat does not take the models of the empty page that is opened meanwhile", async () => {
  const { sender, open, known } = page("x");
  const sent = sender.send("for x", []);
  open(null);
  known();
  assert.equal(await sent, true);
  const [[address, body]] = posted;
  assert.deepEqual([address, body.text, body.models], ["/api/sessions/x/turns/", "for x", undefined]);
});

test("a message goes into the chat in which it was written, with what was chosen for it, whatever is opened meanwhile", async () => {
  const { sender, answering, open, known } = page("x");
  Object.assign(answering.tool, { chosen: "calculator" });
  Object.assign(answering.bases, { picked: ["tides"] });
  Object.assign(answering.options, { ofNextMessage: { temperature: 0 } });
  const sent = sender.send("for x", []);
  open("y");
  Object.assign(answering.tool, { chosen: "web_search" });
  Object.assign(answering.bases, { picked: ["moons"] });
  Object.assign(answering.options, { ofNextMessage: { temperature: 1 } });
  known();
  assert.equal(await sent, true);
  const [[address, { client_message_id: _, ...body }], ...others] = posted;
  assert.deepEqual(others, []);
  assert.equal(address, "/api/sessions/x/turns/");
  assert.deepEqual(body, {
    text: "for x",
    forced_tool: "calculator",
    knowledge_bases: ["tides"],
    options: { temperature: 0 },
  });
  // Chosen for the next message, in y.
  assert.deepEqual(
    [answering.tool.chosen, answering.bases.picked, answering.options.ofNextMessage],
    ["web_search", ["moons"], { temperature: 1 }],
  );
});

test("what was chosen for a message alone is gone after it, and its models are those of its chat", async () => {
  const { sender, answering, known } = page("x");
  Object.assign(answering.tool, { chosen: "calculator" });
  Object.assign(answering.options, { ofNextMessage: { temperature: 0 } });
  known();
  assert.equal(await sender.send("for x", []), true);
  assert.deepEqual(posted[0][1].models, ["model of x"]);
  assert.deepEqual([answering.tool.chosen, answering.options.ofNextMessage], [null, null]);
});

test("a chat that begins with files alone is named after them", async () => {
  const { sender, known } = page(null);
  const files = ["tides.txt", "law.md"].map((name) => ({ id: name, name, kind: "text", size: 1, isSent: false }));
  const sent = sender.send("", files);
  known();
  assert.equal(await sent, true);
  assert.equal(posted[0][1].title, "tides.txt, law.md");
  assert.deepEqual([posted[1][1].text, posted[1][1].files], ["", ["tides.txt", "law.md"]]);
});

test("a new chat is created as it was when its first message was sent", async () => {
  const { sender, answering, now, open, known } = page(null);
  now.project = "garden";
  Object.assign(answering, { forNew: "gardener" });
  const sent = sender.send("What grows?", []);
  open("y");
  now.project = null;
  Object.assign(answering, { forNew: null });
  known();
  assert.equal(await sent, true);
  assert.deepEqual(posted[0], [
    "/api/sessions/",
    { title: "What grows?", models: [], agent: "gardener", project: "garden" },
  ]);
  const { client_message_id: _, ...body } = posted[1][1];
  assert.deepEqual([posted[1][0], body], ["/api/sessions/new/turns/", { text: "What grows?" }]);
  assert.equal(now.live.state.session, "y");
  assert.deepEqual(read, [], "the open chat has nothing new");
});

test("a text that is cut ends with a whole word and says so", () => {
  assert.equal(shortened("How often is low water?", 23), "How often is low water?");
  assert.equal(shortened("How often is low water at Husum?", 20), "How often is low…");
  assert.equal(shortened("How often is low water?", 13), "How often is…");
});

test("words that are longer than half of the place are cut, and no character is", () => {
  assert.equal(shortened("Donaudampfschifffahrt", 10), "Donaudamp…");
  assert.equal(shortened("🌊".repeat(20), 8), "🌊🌊🌊…");
});
