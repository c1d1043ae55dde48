import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

import { UnsavedEdits } from "../../../web/static/chat/conversation/edits.js";

/** @type {Record<string, (event: any) => void>} */
const handlers = {};
beforeEach(() => (globalThis.addEventListener = (type, handler) => (handlers[type] = handler)));

/** Whether the browser asks before the page is left. */
function asksBeforeLeaving() {
  const preventDefault = mock.fn();
  handlers.beforeunload({ preventDefault });
  return preventDefault.mock.callCount() > 0;
}

test("an edit is kept until it is sent or cancelled, and the browser asks before it is lost", () => {
  const edits = new UnsavedEdits();
  edits.session = "s";
  assert.equal(asksBeforeLeaving(), false);
  edits.keep("m", "another text", "text");
  assert.deepEqual([edits.messages, edits.read("m"), asksBeforeLeaving()], [["m"], "another text", true]);
  edits.forget("m");
  assert.deepEqual([edits.messages, edits.read("m"), asksBeforeLeaving()], [[], undefined, false]);
});

test("an edit that is undone by hand is none", () => {
  const edits = new UnsavedEdits();
  edits.keep("m", "another text", "text");
  edits.keep("m", "text", "text");
  assert.equal(asksBeforeLeaving(), false);
});

test("edits of a deleted session are forgotten, those of others are not", () => {
  const edits = new UnsavedEdits();
  for (const session of ["s", "t"]) {
    edits.session = session;
    edits.keep(`of ${session}`, "another text", "text");
  }
  edits.forgetSession("s");
  assert.deepEqual(edits.messages, ["of t"]);
});
