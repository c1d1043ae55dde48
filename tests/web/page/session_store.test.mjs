import assert from "node:assert/strict";
import { test } from "node:test";

import { SessionStore } from "../../../web/static/chat/sessions/session_store.js";
import { groupSessions } from "../../../web/static/chat/sessions/session_list.js";

const chat = (id, minute, more = {}) => ({
  id,
  title: id,
  updated_at: `2026-01-01T00:${String(minute).padStart(2, "0")}:00Z`,
  n: 1,
  ...more,
});
const frame = ({ id, ...fields }) => ({ type: "session_changed", session: id, ...fields });
const ids = (sessions) => sessions.map(({ id }) => id).join(" ");
const shown = (store) => `${ids(store.shown.pinned)} | ${ids(store.shown.sessions)}`;

/** A store whose server has these chats, newest first, and answers in pages of two. */
async function storeOf(chats, kept = {}) {
  const failures = [];
  globalThis.location = { origin: "http://here" };
  globalThis.fetch = async (address) => {
    const { searchParams: asked } = new URL(address, "http://here");
    const is = (name, value) => !asked.has(name) || asked.get(name) === String(Number(Boolean(value)));
    const isArchived = asked.get("archived") === "1";
    const found = chats.filter(
      (one) =>
        (!asked.has("tag") || one.tags?.some((tag) => tag.toLowerCase() === asked.get("tag").toLowerCase())) &&
        is("pinned", one.is_pinned) &&
        (asked.has("search") || Boolean(one.is_archived) === isArchived),
    );
    const from = Number(asked.get("cursor") ?? 0);
    asked.set("cursor", String(from + 2));
    const next = found.length > from + 2 ? `http://here/api/sessions/?${asked}` : null;
    return {
      ok: true,
      status: 200,
      text: async () => JSON.stringify({ results: found.slice(from, from + 2), next, previous: null }),
    };
  };
  const store = new SessionStore({ changed: () => {}, failed: (error) => failures.push(error) }, kept);
  await store.refresh();
  assert.deepEqual(failures, []);
  return store;
}

test("all pinned chats are read, in as many pages as it takes, and stand apart from the others", async () => {
  const store = await storeOf([
    chat("f", 6),
    chat("e", 5, { is_pinned: true }),
    chat("d", 4),
    chat("c", 3, { is_pinned: true }),
    chat("b", 2),
    chat("a", 1, { is_pinned: true }),
  ]);
  assert.equal(shown(store), "e c a | f d");
  await store.extend();
  assert.equal(shown(store), "e c a | f d b");
});

test("a chat moves between the groups as it is pinned and unpinned", async () => {
  const store = await storeOf([chat("b", 2), chat("a", 1)]);
  store.receive(frame(chat("a", 1, { n: 2, is_pinned: true })));
  assert.equal(shown(store), "a | b");
  store.receive(frame(chat("a", 1, { n: 3, is_pinned: false })));
  assert.equal(shown(store), " | b a");
});

test("a list with a tag has the chats that get it, and loses those that lose it", async () => {
  const store = await storeOf([chat("b", 2, { tags: ["Work"] }), chat("a", 1, { tags: ["Home"] })]);
  await store.filter("work");
  store.receive(frame(chat("a", 1, { n: 2, tags: ["Home"] })));
  store.receive(frame(chat("c", 3, { n: 1, tags: ["WORK"] })));
  assert.equal(shown(store), " | c b");
  store.receive(frame(chat("b", 2, { n: 2, tags: [] })));
  assert.equal(shown(store), " | c");
  assert.deepEqual(store.get("b").tags, []);
  assert.equal(store.get("a").id, "a");
});

test("a renamed or removed tag changes every chat that is known, and the tag that is looked for", async () => {
  const store = await storeOf([
    chat("b", 2, { tags: ["Work", "Job"] }),
    chat("a", 1, { tags: ["x"], is_pinned: true }),
  ]);
  store.receive({ type: "tag_changed", tag: "work", name: "job" });
  assert.deepEqual(store.get("b").tags, ["job"]);
  await store.filter("Job");
  store.receive({ type: "tag_changed", tag: "JOB", name: "Duty" });
  assert.equal(store.tag, "Duty");
  store.receive({ type: "tag_changed", tag: "duty", name: null });
  assert.equal(store.tag, "");
  assert.deepEqual(store.get("b").tags, ["Work"]); // as this server has it
  assert.deepEqual(store.get("a").tags, ["x"]);
});

test("a temporary chat is in no list, leaves nothing in the browser, and is known while it is open", async () => {
  const stored = [];
  globalThis.sessionStorage = { getItem: () => null, setItem: (key) => stored.push(key) };
  const store = await storeOf([chat("a", 1)]);
  store.add(chat("t", 2, { is_temporary: true }), "A secret");
  store.assume("t", { models: ["quick"] });
  assert.equal(shown(store), " | a");
  assert.deepEqual(store.get("t").models, ["quick"]);
  assert.deepEqual(stored, []);
  store.assume("t", { is_temporary: false });
  assert.equal(shown(store), " | t a");
});

test("an outdated update moves nothing", async () => {
  const store = await storeOf([chat("a", 1, { n: 5 })]);
  store.receive(frame(chat("a", 1, { n: 4, is_pinned: true, is_archived: true })));
  assert.equal(shown(store), " | a");
});

test("an archived chat leaves the list, is still known, and comes back", async () => {
  const store = await storeOf([chat("b", 2), chat("a", 1)]);
  store.assume("a", { is_archived: true });
  assert.equal(shown(store), " | b");
  assert.equal(store.get("a").is_archived, true);
  store.receive(frame(chat("a", 1, { n: 2, is_archived: false })));
  assert.equal(shown(store), " | b a");
});

test("the archive keeps archived chats alone, pinned ones among them", async () => {
  const store = await storeOf(
    [chat("c", 3), chat("b", 2, { is_archived: true, is_pinned: true }), chat("a", 1, { is_archived: true })],
    { isArchive: true },
  );
  assert.equal(shown(store), " | b a");
  store.receive(frame(chat("c", 3, { n: 2, is_archived: true })));
  store.receive(frame(chat("b", 2, { n: 2, is_archived: false, is_pinned: true })));
  assert.equal(shown(store), " | c a");
});

test("a chat that belongs below the loaded part once it is unpinned is still known", async () => {
  const store = await storeOf([chat("d", 4), chat("c", 3), chat("b", 2), chat("a", 1, { is_pinned: true })]);
  assert.equal(shown(store), "a | d c");
  store.assume("a", { is_pinned: false });
  assert.equal(shown(store), " | d c");
  assert.equal(store.get("a").title, "a");
});

test("what a search finds is one list, which changes in place", async () => {
  const store = await storeOf([chat("b", 2, { is_pinned: true }), chat("a", 1, { is_archived: true })]);
  await store.search("words");
  assert.equal(shown(store), " | b a");
  store.receive(frame(chat("b", 2, { n: 2, is_pinned: true, is_archived: true })));
  assert.equal(shown(store), " | b a");
  await store.search("");
  assert.equal(shown(store), " | ");
});

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

test("the list goes on reading when another one was shown while a page of it was read", async () => {
  const store = await storeOf([chat("d", 4), chat("c", 3), chat("b", 2), chat("a", 1)]);
  await store.search("words");
  const extending = store.extend();
  await store.search("");
  let isSeen = false;
  // The list watches its end anew with each change.
  store.listener.changed = () => (isSeen ||= !store.isExtending);
  await extending;
  assert.equal(shown(store), " | d c");
  assert.ok(isSeen);
});
