/** The parts of knowledge bases that need no page: what reads and the socket do to their lists, and what is said of them. */

import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { DocumentList } from "../../../features/knowledge_bases/static/chat/knowledge/document_list.js";
import {
  KnowledgeStore,
  countText,
  indexingText,
  namesOf,
  rankText,
} from "../../../features/knowledge_bases/static/chat/knowledge/knowledge_store.js";

import { ApiError } from "../../../web/static/chat/server/api.js";

globalThis.location = { origin: "http://here" };

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
  const answer = async (path, body, status) => {
    const at = waiting.findIndex((request) => request.path === path);
    assert.notEqual(at, -1, `${path} is not asked for, but ${waiting.map((request) => request.path)}`);
    waiting.splice(at, 1)[0].answer(body, status);
    await new Promise(setImmediate);
  };
  return { answer, waiting };
}

const tides = { id: "t", name: "Tides", updated_at: "2026-01-02T00:00:00Z", role: "owner" };
const law = { id: "l", name: "Law", updated_at: "2026-01-01T00:00:00Z", role: "reader" };

test("the list follows what the socket tells of bases, also of those whose membership has ended", async () => {
  const { answer } = pretendServer();
  const store = new KnowledgeStore((error) => assert.fail(error));
  await answer("/api/knowledge-bases/?limit=200", [tides]);
  store.receive({ type: "knowledge_base_changed", knowledge_base: "l" });
  await answer("/api/knowledge-bases/l/", law);
  assert.deepEqual(store.rows, [tides, law]);
  assert.equal(store.nameOf("gone"), "Unknown knowledge base");
  store.receive({ type: "knowledge_base_changed", knowledge_base: "t" });
  await answer("/api/knowledge-bases/t/", { code: "knowledge_base_not_found" }, 404);
  store.receive({ type: "knowledge_base_deleted", knowledge_base: "l" });
  assert.deepEqual(store.rows, []);
});

const documents = (...ids) =>
  ids.map((id) => ({ id, title: id, status: "ready", kind: "text", size: 1, token_count: 1 }));

test("a document that was read before the answer to its upload stands in the list once", async () => {
  const { answer } = pretendServer();
  const list = new DocumentList("t", { changed: () => {}, failed: (error) => assert.fail(error) });
  const at = "/api/knowledge-bases/t/documents/";
  const [stored, other] = documents("stored", "other");
  let answered, refused;
  const awaiting = (settle) => () => ({ done: new Promise(settle), abort: () => {} });
  list.uploads.options.server.upload = awaiting((resolve) => (answered = resolve));
  list.upload([new File(["law"], "stored")]);
  list.uploads.put({ ...list.uploads.entries[0], progress: 1 });
  void list.refresh();
  await answer(at, { results: [stored, other], next: null });
  assert.deepEqual(list.documents, null);
  answered({ ...stored, name: "stored" });
  await new Promise(setImmediate);
  assert.deepEqual(list.uploads.entries, []);
  await answer(at, { results: [stored, other], next: null });
  assert.deepEqual(list.documents, [stored, other]);

  list.uploads.options.server.upload = awaiting((_, reject) => (refused = reject));
  list.upload([new File(["law"], "refused")]);
  list.uploads.put({ ...list.uploads.entries[0], progress: 1 });
  void list.refresh();
  await answer(at, { results: [other], next: null });
  assert.deepEqual(list.documents, [stored, other]);
  refused(new ApiError(500, "internal_error", ""));
  await new Promise(setImmediate);
  await answer(at, { results: [other], next: null });
  assert.deepEqual(list.documents, [other]);
});

test("documents are read again as far as they were read, and no further", async () => {
  const { answer, waiting } = pretendServer();
  const list = new DocumentList("t", { changed: () => {}, failed: (error) => assert.fail(error) });
  const at = "/api/knowledge-bases/t/documents/";
  void list.refresh();
  await answer(at, {
    results: documents("a", "b"),
    next: "http://elsewhere/api/knowledge-bases/t/documents/?cursor=1",
  });
  void list.extend();
  await answer(`${at}?cursor=1`, { results: documents("c", "d"), next: "http://elsewhere/x?cursor=2" });
  assert.deepEqual(
    list.documents.map(({ id }) => id),
    ["a", "b", "c", "d"],
  );
  void list.refresh();
  await answer(at, { results: documents("new", "a"), next: "http://elsewhere/x?cursor=3" });
  await answer(`${at}?cursor=3`, { results: documents("b", "c"), next: "http://elsewhere/x?cursor=4" });
  assert.deepEqual(
    list.documents.map(({ id }) => id),
    ["new", "a", "b", "c"],
  );
  assert.equal(list.next, "?cursor=4");
  assert.deepEqual(waiting, []);
});

test("a document that has ended is told once", async () => {
  const { answer } = pretendServer();
  const ended = [];
  const list = new DocumentList("t", {
    changed: (document) => document && ended.push(document.status),
    failed: (error) => assert.fail(error),
  });
  const read = async (status) => {
    void list.refresh();
    await answer("/api/knowledge-bases/t/documents/", { results: [{ ...documents("a")[0], status }], next: null });
  };
  for (const status of ["processing", "processing", "failed", "failed"]) await read(status);
  assert.deepEqual(ended, ["failed"]);
});

test("counts, progress and ranks are said only where there are any", () => {
  assert.equal(countText({ documents: null }), "protected documents");
  assert.equal(countText({ documents: { processing: 0, ready: 1, failed: 0 } }), "1 document");
  assert.equal(
    countText({ documents: { processing: 2, ready: 1, failed: 1 } }),
    "4 documents · 2 being read · 1 failed",
  );
  assert.equal(indexingText({ indexing: null }), "");
  assert.equal(indexingText({ indexing: { chunks: 9, waiting: 0 } }), "");
  assert.match(indexingText({ indexing: { chunks: 9, waiting: 3 } }), /^Indexing: 6 of 9 passages/);
  assert.equal(rankText({ vector_rank: 2 }), "no. 2 by meaning");
  assert.equal(rankText({ lexical_rank: 1, vector_rank: 2 }), "no. 1 by words · no. 2 by meaning");
});

test("the names of bases are read once for many questions, and again after a minute", async () => {
  mock.timers.enable({ apis: ["Date"], now: Date.parse("2026-01-01") });
  const { answer, waiting } = pretendServer();
  const [one, other] = [namesOf(["t"]), namesOf(["t", "l"])];
  await answer("/api/knowledge-bases/?limit=200", [tides]);
  assert.deepEqual([await one, await other, waiting], [["Tides"], ["Tides"], []]);
  mock.timers.tick(61_000);
  const later = namesOf(["t"]);
  await answer("/api/knowledge-bases/?limit=200", [{ ...tides, name: "Tides and waves" }]);
  assert.deepEqual(await later, ["Tides and waves"]);
  mock.timers.reset();
});
