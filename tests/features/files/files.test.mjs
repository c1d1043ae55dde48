import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";

import {
  entryOfAttached,
  entryOfInfo,
  entryOfUpload,
  firstUnfit,
  announcement,
  kindText,
  stateText,
} from "../../../features/files/static/chat/files/file_entry.js";
import { FileUploads } from "../../../features/files/static/chat/files/file_uploads.js";
import { upload } from "../../../web/static/chat/server/upload.js";

const READY = {
  id: "f1",
  name: "tides.pdf",
  content_type: "application/pdf",
  size: 5,
  status: "ready",
  token_count: 1234,
  kind: "text",
  project: null,
  fits: { alpha: true, beta: false },
};

// A server of uploads: each waits until a test answers it.

/** @type {any[]} */
let sent = [];
/** @type {string[]} */
let deleted = [];

class Request {
  upload = {};
  status = 0;
  response = null;
  open() {}
  setRequestHeader() {}
  send(form) {
    this.form = form;
    sent.push(this);
  }
  abort() {
    this.onabort();
    this.onloadend();
  }
  answer(status, response) {
    Object.assign(this, { status, response });
    this.onload();
    this.onloadend();
  }
}

beforeEach(() => {
  sent = [];
  deleted = [];
  globalThis.XMLHttpRequest = Request;
  globalThis.document = { cookie: "csrftoken=x", body: { dataset: {} } };
  globalThis.fetch = async (address, { method }) => {
    if (method === "DELETE") deleted.push(address);
    return { status: 204, ok: true };
  };
});

// Ends their timers.
afterEach(() => sent.forEach((request) => request.abort()));

const file = (name = "tides.pdf", content = "tides", type = "application/pdf") => new File([content], name, { type });
const turn = () => new Promise((resolve) => setImmediate(resolve));

function uploads(options = {}) {
  const told = [];
  const list = new FileUploads({
    changed: (entry) => entry && told.push([entry.name, entry.state]),
    failed: assert.fail,
    ...options,
  });
  return { list, told, end: () => clearTimeout(list.timer) };
}

test("an upload goes from its progress to what the server says of it", async () => {
  const { list, told, end } = uploads({ project: "p1" });
  list.add([file()]);
  sent[0].upload.onprogress({ loaded: 1, total: 4 });
  assert.equal(list.entries[0].progress, 0.25);
  assert.deepEqual([...sent[0].form.keys()], ["project", "file"]);
  sent[0].answer(201, { ...READY, status: "processing", token_count: 0, fits: undefined });
  await turn();
  assert.equal(list.isSettled, false);
  list.receive({ type: "file", ...READY });
  assert.deepEqual(
    told.map(([, state]) => state),
    ["waiting", "uploading", "processing", "ready"],
  );
  assert.equal(list.entries[0].tokens, 1234);
  assert.equal(list.isSettled, true);
  end();
});

test("a file that is ready before its upload is answered is ready", async () => {
  const { list, end } = uploads();
  list.add([file()]);
  list.receive({ type: "file", ...READY });
  sent[0].answer(201, { ...READY, status: "processing" });
  await turn();
  assert.equal(list.entries[0].state, "ready");
  end();
});

test("a few are uploaded at once, the others as those end", async () => {
  const { list, end } = uploads();
  list.add(["a", "b", "c", "d"].map((name) => file(name)));
  assert.equal(sent.length, 3);
  sent[1].answer(201, { ...READY, id: "f2" });
  await turn();
  assert.equal(sent.length, 4);
  assert.equal(sent[3].form.get("file").name, "d");
  end();
});

test("what the network cut is uploaded again, once the connection is back or on demand", async () => {
  const { list, end } = uploads();
  list.add([file()]);
  sent[0].onerror();
  await turn();
  assert.equal(list.entries[0].state, "failed");
  assert.equal(list.entries[0].canRetry, true);
  list.reconnected();
  assert.equal(sent.length, 2);
  sent[1].answer(503, { code: "file_storage_unavailable", message: "" });
  await turn();
  list.reconnected();
  assert.equal(sent.length, 2);
  list.retry(list.entries[0].key);
  assert.equal(sent.length, 3);
  sent[2].answer(415, { code: "file_type_mismatch", message: "" });
  await turn();
  assert.equal(list.entries[0].canRetry, false);
  end();
});

test("a removed file is deleted, an upload cancelled, and what was sent stays", async () => {
  const { list, end } = uploads();
  list.put(entryOfInfo(READY));
  list.put({ ...entryOfInfo({ ...READY, id: "f2" }), isSent: true });
  list.add([file("a"), file("b")]);
  const [, , a, b] = list.entries;
  list.remove("f1");
  list.remove("f2");
  list.remove(a.key);
  sent[1].upload.onprogress({ loaded: 9, total: 9 });
  list.remove(b.key);
  await turn();
  // All its bytes were sent: it may be stored.
  sent[1].answer(201, { ...READY, id: "f3" });
  await turn();
  assert.deepEqual(deleted, ["/api/files/f1/", "/api/files/f3/"]);
  assert.deepEqual(list.entries, []);
  end();
});

test("empty and too large files are refused without a request", () => {
  const { list } = uploads({ maxBytes: 5 });
  list.add([file("empty", ""), file("large", "123456")]);
  assert.deepEqual(
    list.entries.map(({ error }) => error.code),
    ["file_empty", "file_too_large"],
  );
  assert.equal(sent.length, 0);
});

test("a file says what it is and how it gets on", () => {
  const entry = entryOfUpload("k", file("moon.jpeg", "x", "image/jpeg"));
  assert.equal(stateText(entry), "waiting…");
  assert.equal(stateText({ ...entry, state: "uploading", progress: 0.349 }), "uploading 34%");
  assert.equal(stateText(entryOfInfo(READY)), "PDF · 1,234 tokens");
  assert.equal(
    stateText(entryOfInfo({ ...READY, shown_rows: 50, table_rows: 120_000 })),
    "PDF · 1,234 tokens · first 50 of 120,000 rows",
  );
  assert.equal(
    stateText(
      entryOfAttached({ id: "f", name: "a.csv", kind: "tabular", token_count: 9, shown_rows: 50, table_rows: 60 }),
    ),
    "CSV · 9 tokens · first 50 of 60 rows",
  );
  assert.equal(
    stateText(entryOfInfo({ ...READY, unread_pages: 3 })),
    "PDF · 1,234 tokens · 3 pages are pictures: not read",
  );
  assert.equal(
    stateText(entryOfInfo({ ...READY, unread_pages: 1, shown_pages: 1 })),
    "PDF · 1,234 tokens · 1 page is a picture: only for models that see",
  );
  assert.equal(
    stateText(entryOfInfo({ ...READY, unread_pages: 12, shown_pages: 10 })),
    "PDF · 1,234 tokens · 12 pages are pictures: only for models that see (the first 10)",
  );
  assert.equal(
    stateText(entryOfInfo({ ...READY, name: "moon", kind: "image", token_count: 0, size: 2048 })),
    "Image · 2 KiB",
  );
  assert.match(
    stateText(entryOfInfo({ ...READY, status: "failed", error: { code: "document_encrypted", message: "" } })),
    /password/,
  );
  assert.equal(kindText({ name: ".bashrc", kind: "text" }), "Text");
  assert.equal(announcement(entryOfInfo(READY)), "tides.pdf is ready");
  assert.equal(announcement(entry), "");
});

test("the first file that a model cannot read whole is named with the model", () => {
  const entries = [entryOfInfo({ ...READY, fits: { alpha: true } }), entryOfInfo({ ...READY, name: "b" })];
  assert.deepEqual(firstUnfit(entries, ["alpha", "beta"]), { name: "b", model: "beta" });
  assert.equal(firstUnfit(entries, ["alpha"]), null);
});

test("what a proxy refuses with a page of its own is too large for the proxy, and is not tried again", async () => {
  const { list, end } = uploads();
  list.add([file()]);
  sent[0].answer(413, null); // HTML, where JSON is asked for
  await turn();
  const [{ error, canRetry }] = list.entries;
  assert.deepEqual([error.code, canRetry], ["proxy_too_large", false]);
  end();
});

test("an upload that is sent whole is waited for while the server stores it, one that stalls is given up", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const { done } = upload("files/", new FormData());
  let isAborted = false;
  done.catch(() => (isAborted = true));
  sent[0].upload.onprogress({ loaded: 4, total: 4 });
  sent[0].upload.onload();
  mock.timers.tick(120_000);
  await turn();
  assert.equal(isAborted, false);
  sent[0].answer(201, READY);
  assert.equal((await done).id, "f1");

  const stalled = upload("files/", new FormData());
  mock.timers.tick(30_000);
  await assert.rejects(stalled.done, { code: "unreachable" });
  mock.timers.reset();
});
