import assert from "node:assert/strict";
import { test } from "node:test";

import { interpretKey } from "../../../web/static/chat/composer/composer.js";
import {
  Drafts,
  EMPTY,
  fullText,
  hasText,
  isEmpty,
  joinDrafts,
  preview,
} from "../../../web/static/chat/composer/drafts.js";
import { chooseModels, withPick } from "../../../web/static/chat/composer/model_picker.js";
import { newestWaiting, waiting } from "../../../web/static/chat/conversation/queue.js";
import { emptyState } from "../../../web/static/chat/state/session_state.js";

// Keys

const IDLE = { isEmpty: true, canStop: false, sendKey: "enter" };
const SLOW = { ...IDLE, sendKey: "ctrl-enter" };
for (const [key, now, meaning] of [
  [{ key: "Enter" }, IDLE, "send"],
  [{ key: "Enter", ctrlKey: true }, IDLE, "send"],
  [{ key: "Enter", shiftKey: true }, IDLE, null],
  [{ key: "Enter", isComposing: true }, IDLE, null],
  [{ key: "Enter", keyCode: 229 }, IDLE, null],
  [{ key: "Enter" }, SLOW, null],
  [{ key: "Enter", ctrlKey: true }, SLOW, "send"],
  [{ key: "Enter", metaKey: true }, SLOW, "send"],
  [{ key: "Escape" }, IDLE, null],
  [{ key: "Escape" }, { ...IDLE, canStop: true }, "stop"],
  [{ key: "Escape", isComposing: true }, { ...IDLE, canStop: true }, null],
  [{ key: "ArrowUp" }, IDLE, "edit_latest"],
  [{ key: "ArrowUp" }, { ...IDLE, isEmpty: false }, null],
  [{ key: "ArrowUp", shiftKey: true }, IDLE, null],
  [{ key: "a" }, IDLE, null],
]) {
  test(`${JSON.stringify([key, now])} means ${meaning}`, () => assert.equal(interpretKey(key, now), meaning));
}

// Texts

const TIDES = { id: "f1", name: "tides.txt", size: 5, kind: "text", isSent: false };
const MOON = { ...TIDES, id: "f2", name: "moon.png", kind: "image" };

test("what was pasted follows what was typed", () => {
  assert.equal(fullText({ text: "Sum it up:\n", pasted: ["one", "two"] }), "Sum it up:\n\none\n\ntwo");
  assert.equal(fullText({ text: "", pasted: ["one"] }), "one");
  assert.equal(fullText({ text: "  as typed \n", pasted: [] }), "  as typed \n");
});

test("a refused text comes back before what was typed meanwhile", () => {
  assert.deepEqual(
    joinDrafts(
      { text: "first", pasted: ["a"], files: [TIDES] },
      { text: "second", pasted: ["b"], files: [MOON, TIDES] },
    ),
    {
      text: "first\n\nsecond",
      pasted: ["a", "b"],
      files: [TIDES, MOON],
    },
  );
  assert.deepEqual(joinDrafts({ ...EMPTY, text: "first" }, EMPTY), { text: "first", pasted: [], files: [] });
});

test("only visible text is something to send", () => {
  assert.ok(!hasText({ text: " \n", pasted: ["\t"] }));
  assert.ok(hasText({ text: "", pasted: ["x"] }));
  assert.ok(isEmpty({ text: " \n", pasted: ["\t"], files: [] }));
  assert.ok(!isEmpty({ ...EMPTY, files: [TIDES] }));
});

test("a preview is one line", () => {
  assert.equal(preview("\n  one\n\ttwo "), "one two");
  assert.equal(preview("x".repeat(90)), `${"x".repeat(80)}…`);
});

// Drafts

class Store extends Map {
  getItem = (key) => this.get(key) ?? null;
  setItem = (key, value) => void this.set(key, value);
  removeItem = (key) => void this.delete(key);
  key = (i) => [...this.keys()][i];
  get length() {
    return this.size;
  }
}

test("drafts are kept by user and session, and forgotten when empty", () => {
  const store = new Store();
  const drafts = new Drafts(store, "1");
  drafts.write("s", { text: "half a", pasted: ["p"], files: [TIDES] });
  drafts.write(null, { ...EMPTY, text: "new" });
  assert.equal(drafts.read("s").text, "half a");
  assert.deepEqual(drafts.read("s").pasted, ["p"]);
  assert.deepEqual(drafts.read("s").files, [TIDES]);
  assert.equal(drafts.read(null).text, "new");
  assert.equal(new Drafts(store, "2").read("s").text, "");
  drafts.write("s", { ...EMPTY, text: " " });
  assert.equal(store.length, 1);
});

test("the oldest drafts make room, and nonsense is no draft", () => {
  const store = new Store([["other", "x"]]);
  let now = 0;
  const drafts = new Drafts(store, "1", () => (now += 1));
  for (let i = 0; i < 60; i += 1) drafts.write(`s${i}`, { ...EMPTY, text: `${i}` });
  assert.equal(store.length, 51);
  assert.equal(drafts.read("s9").text, "");
  assert.equal(drafts.read("s59").text, "59");
  store.setItem("turnwire.draft.1.old", '{"text": "a", "pasted": [], "at": 1}');
  assert.deepEqual(drafts.read("old").files, []);
  for (const kept of [
    "{",
    "3",
    '{"text": "a", "pasted": [], "files": [1]}',
    '{"text": 3, "pasted": []}',
    '{"text": "a", "pasted": [1]}',
  ]) {
    store.setItem("turnwire.draft.1.s", kept);
    assert.equal(drafts.read("s").text, "");
  }
});

test("a store that refuses is no reason to fail", () => {
  const refusing = {
    getItem() {
      throw new Error("denied");
    },
  };
  const drafts = new Drafts(refusing, "1");
  drafts.write("s", { ...EMPTY, text: "a" });
  assert.equal(drafts.read("s").text, "");
});

// Models

const MODELS = ["alpha", "beta", "gamma", "delta", "epsilon"].map((name) => ({ name, is_default: name === "beta" }));
const PREFERRED = MODELS.map((model) => ({ ...model, is_own_default: ["delta", "alpha"].includes(model.name) }));
const AGENT = { id: "a", name: "Gardener", models: ["gamma", "gone"] };
for (const [name, agent, picks, names, own, models = MODELS] of [
  ["the default", null, {}, ["beta"]],
  ["what was picked, in the order offered", null, { "": ["gamma", "alpha"] }, ["alpha", "gamma"]],
  ["what is gone is not asked", null, { "": ["gone"] }, ["beta"]],
  ["at most four", null, { "": MODELS.map((model) => model.name) }, ["alpha", "beta", "gamma", "delta"]],
  ["the agent's own before what was picked without it", AGENT, { "": ["alpha"] }, ["gamma"]],
  ["what was picked with the agent before its own", AGENT, { a: ["alpha"] }, ["alpha"]],
  ["the session's before all others", AGENT, { a: ["alpha"] }, ["delta"], ["delta"]],
  ["those of the session's that are left", null, {}, ["delta"], ["gone", "delta"]],
  ["as for a new chat, if the session's are gone", AGENT, {}, ["gamma"], ["gone"]],
  ["the user's for all chats before what was picked last", null, { "": ["gamma"] }, ["alpha", "delta"], [], PREFERRED],
  ["but not before the agent's", AGENT, {}, ["gamma"], [], PREFERRED],
  ["nor before the session's", null, {}, ["beta"], ["beta"], PREFERRED],
  ["an agent without models leaves the choice", { ...AGENT, models: [] }, { "": ["alpha"] }, ["alpha"]],
]) {
  test(`models: ${name}`, () => assert.deepEqual(chooseModels(models, agent, picks, own), names));
}

test("a pick is kept by agent, and none where it is what the agent has", () => {
  assert.deepEqual(withPick({ "": ["alpha"] }, AGENT, ["beta"]), { "": ["alpha"], a: ["beta"] });
  assert.deepEqual(withPick({ a: ["beta"] }, { ...AGENT, models: ["gamma"] }, ["gamma"]), {});
  assert.deepEqual(withPick({ "": ["alpha"] }, null, ["beta"]), { "": ["beta"] });
});

// The queue

const message = (id, role, status) => ({ id, role, status });
const branchOf = (...messages) => ({ ...emptyState("s"), branch: messages });

test("all questions below a running answer wait, and the newest is found", () => {
  const state = branchOf(
    message("q1", "user"),
    message("a1", "assistant", "running"),
    message("q2", "user"),
    message("a2", "assistant", "queued"),
    message("q3", "user"),
    message("a3", "assistant", "queued"),
  );
  assert.deepEqual([...waiting(state)], ["q2", "a2", "q3", "a3"]);
  assert.equal(newestWaiting(state).id, "q3");
});

test("nothing waits below an answer that has ended", () => {
  const state = branchOf(
    message("q1", "user"),
    message("a1", "assistant", "completed"),
    message("q2", "user"),
    message("a2", "assistant", "queued"),
  );
  assert.equal(waiting(state).size, 0);
  assert.equal(newestWaiting(state), undefined);
  assert.equal(newestWaiting(emptyState("s")), undefined);
});

test("what is asked below a question that was stopped while it waited waits on", () => {
  const state = branchOf(
    message("q1", "user"),
    message("a1", "assistant", "running"),
    message("q2", "user"),
    message("a2", "assistant", "stopped"),
    message("q3", "user"),
    message("a3", "assistant", "queued"),
  );
  assert.deepEqual([...waiting(state)], ["q3", "a3"]);
});
