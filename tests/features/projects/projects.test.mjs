/**
 * The parts of projects that need no page: addresses, what fits, what reads and the socket do to the list, and which
 * are unfolded.
 */

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  knowledgeAddress,
  projectAddress,
  readAddress,
  sessionAddress,
} from "../../../web/static/chat/frame/address.js";
import { fitText } from "../../../features/projects/static/chat/projects/project_files.js";
import { ProjectStore } from "../../../features/projects/static/chat/projects/projects.js";
import { UnfoldedProjects } from "../../../features/projects/static/chat/projects/project_list.js";

const ID = "00000000-0000-4000-8000-000000000001";
const OTHER = "00000000-0000-4000-8000-000000000002";

test("a fragment names a session, a project, knowledge bases or nothing", () => {
  const nothing = { session: null, message: null, project: null, knowledge: null };
  assert.deepEqual(readAddress(`#${ID}`), { ...nothing, session: ID });
  assert.deepEqual(readAddress(sessionAddress(ID, OTHER)), { ...nothing, session: ID, message: OTHER });
  assert.deepEqual(readAddress(projectAddress(ID)), { ...nothing, project: ID });
  assert.deepEqual(readAddress(knowledgeAddress()), { ...nothing, knowledge: "" });
  assert.deepEqual(readAddress(knowledgeAddress(ID)), { ...nothing, knowledge: ID });
  for (const other of [
    "",
    "#",
    "#project/",
    `#projects/${ID}`,
    `#${ID}/more`,
    "#settings",
    "#knowledge/",
    `#knowledges/${ID}`,
  ]) {
    assert.deepEqual(readAddress(other), nothing);
  }
});

test("the text says which models are sent all files, which search them and which see nothing of them", () => {
  const model = (name, supports_tools = true) => ({ name, supports_tools, is_default: false });
  const models = [model("alpha"), model("beta"), model("old", false)];
  assert.equal(fitText({}, []), "");
  assert.equal(fitText({ alpha: true, beta: true, old: true }, models), "part of every question");
  assert.equal(
    fitText({ alpha: false, beta: false }, models.slice(0, 2)),
    "too large for every question: models search them",
  );
  assert.equal(
    fitText({ alpha: true, beta: false, old: false }, models),
    "part of every question to alpha, searched by beta, too large for old",
  );
});

/** A server that answers when it is told to. */
function pretendServer() {
  const waiting = [];
  globalThis.fetch = (path) =>
    new Promise((resolve) =>
      waiting.push({
        path,
        answer: (body, status = 200) => resolve({ ok: status < 400, status, text: async () => JSON.stringify(body) }),
      }),
    );
  return async (path, body, status) => {
    const at = waiting.findIndex((request) => request.path.startsWith(path));
    assert.notEqual(at, -1, `${path} is not asked for`);
    waiting.splice(at, 1)[0].answer(body, status);
    await new Promise(setImmediate);
  };
}

const tides = { id: ID, name: "Tides", updated_at: "2026-01-01T00:00:00Z" };
const moons = { id: ID.replace(/1$/, "2"), name: "Moons", updated_at: "2026-01-02T00:00:00Z" };
const namesOf = (store) => store.projects?.map(({ name }) => name) ?? null;

function newStore() {
  const failures = [];
  return { failures, store: new ProjectStore({ changed: () => {}, failed: (error) => failures.push(error) }) };
}

test("a project that changes while all are read is read again", async () => {
  const answer = pretendServer();
  const { store } = newStore();
  store.receive({ type: "sessions_watched" });
  store.receive({ type: "project_changed", project: ID });
  await answer("/api/projects/?", [tides]);
  assert.equal(namesOf(store), null);
  await answer(`/api/projects/${ID}/`, { ...tides, name: "Seas" });
  // Begun before the change was read.
  await answer("/api/projects/?", [tides]);
  assert.equal(namesOf(store), null);
  await answer("/api/projects/?", [{ ...tides, name: "Seas" }]);
  assert.deepEqual(namesOf(store), ["Seas"]);
});

test("a change puts a project on top, a deletion takes it away, and so does a read that does not find it", async () => {
  const answer = pretendServer();
  const { store, failures } = newStore();
  store.receive({ type: "sessions_watched" });
  await answer("/api/projects/?", [moons, tides]);
  store.receive({ type: "project_changed", project: ID });
  await answer(`/api/projects/${ID}/`, { ...tides, updated_at: "2026-01-03T00:00:00Z" });
  assert.deepEqual(namesOf(store), ["Tides", "Moons"]);
  store.receive({ type: "project_deleted", project: moons.id });
  assert.deepEqual(namesOf(store), ["Tides"]);
  store.receive({ type: "file", project: ID });
  await answer(`/api/projects/${ID}/`, { code: "project_not_found" }, 404);
  assert.deepEqual(namesOf(store), []);
  assert.deepEqual(failures, []);
});

test("an older read that ends last does not bring back what was", async () => {
  const answer = pretendServer();
  const { store } = newStore();
  store.receive({ type: "sessions_watched" });
  await answer("/api/projects/?", [tides]);
  store.receive({ type: "project_changed", project: ID });
  store.put({ ...tides, name: "Seas" });
  await answer(`/api/projects/${ID}/`, tides);
  assert.deepEqual(namesOf(store), ["Seas"]);
  await answer("/api/projects/?", [{ ...tides, name: "Seas" }]);
  assert.deepEqual(namesOf(store), ["Seas"]);
});

const storage = (kept = null) => {
  const items = { kept };
  return { getItem: () => items.kept, setItem: (_key, value) => (items.kept = value) };
};

test("what was unfolded is so after a reload", () => {
  const browser = storage();
  const first = new UnfoldedProjects(browser);
  first.set("a", true);
  first.set("b", true);
  first.set("a", false);
  const second = new UnfoldedProjects(browser);
  assert.deepEqual(
    ["a", "b"].map((id) => second.has(id)),
    [false, true],
  );
});

test("what the storage has been filled with by others is left out", () => {
  for (const kept of ["{", "7", '{"a": 1}', "[1, null]"]) assert.deepEqual(new UnfoldedProjects(storage(kept)).ids, []);
});

test("the oldest are forgotten", () => {
  const unfolded = new UnfoldedProjects(storage());
  for (let n = 0; n <= 100; n += 1) unfolded.set(String(n), true);
  assert.equal(unfolded.has("0"), false);
  assert.equal(unfolded.ids.length, 100);
});

test("without storage it lasts as long as the page", () => {
  const full = {
    getItem: () => null,
    setItem: () => {
      throw new Error("full");
    },
  };
  const unfolded = new UnfoldedProjects(full);
  unfolded.set("a", true);
  assert.equal(unfolded.has("a"), true);
});
