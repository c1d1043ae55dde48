import assert from "node:assert/strict";
import { test } from "node:test";

import { NOTHING, withUpdate, withOlder, without } from "../../../web/static/chat/sessions/session_store.js";

const at = (id, minute, more = {}) => ({
  id,
  updated_at: `2026-01-01T00:${String(minute).padStart(2, "0")}:00Z`,
  n: 1,
  ...more,
});
const ids = (pages) => pages.sessions.map(({ id }) => id).join(" ");
const pages = (next = null) => ({ sessions: [at("c", 30), at("b", 20), at("a", 10)], next });

for (const [name, update, order] of [
  ["a new chat comes first", at("d", 40), "d c b a"],
  ["a chat that goes on moves up", at("a", 40), "a c b"],
  ["a chat that only got a title stays where it is", at("b", 20, { title: "T" }), "c b a"],
  ["an older chat takes its place", at("x", 15), "c b x a"],
  ["the oldest of all comes last where everything is loaded", at("x", 1), "c b a x"],
  ["of the same moment the greater id comes first", at("bb", 20), "c bb b a"],
]) {
  test(name, () => assert.equal(ids(withUpdate(pages(), update)), order));
}

test("what is older than the loaded part is left to be read", () => {
  assert.equal(ids(withUpdate(pages("more"), at("x", 1))), "c b a");
});

test("an update keeps the fields it does not contain", () => {
  const [first] = withUpdate(pages(), { ...at("c", 30), n: 2, title: "T" }).sessions;
  assert.deepEqual(first, { ...at("c", 30), n: 2, title: "T" });
  const before = { sessions: [at("c", 30, { match: "said" })], next: null };
  assert.equal(withUpdate(before, at("c", 31)).sessions[0].match, "said");
});

test("an outdated update changes nothing", () => {
  const known = { sessions: [at("c", 30, { n: 5, title: "new" })], next: null };
  assert.equal(withUpdate(known, at("c", 31, { n: 4, title: "old" })), known);
});

test("an older page brings nothing twice", () => {
  const both = withOlder(pages("more"), { results: [at("a", 10), at("0", 5)], next: null });
  assert.equal(ids(both), "c b a 0");
  assert.equal(both.next, null);
});

test("what was deleted is gone", () => {
  assert.equal(ids(without(pages(), "b")), "c a");
  assert.equal(ids(without(NOTHING, "b")), "");
});
