/** Which tools the page offers, and when it offers another model. */

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

import { canAnotherModelHelp, RUN_ERRORS } from "../../../web/static/chat/answer/status_texts.js";
import {
  allOfServer,
  isConfigured,
  labelOf,
  nameOf,
  offeredTools,
  serverOf,
  singleTools,
} from "../../../web/static/chat/tools/tool_texts.js";
import { setUpTools } from "./tool_cards.mjs";

afterEach(() => delete globalThis.document);

test("a tool that the server is not set up for is not offered", () => {
  setUpTools("current_time open_url");
  assert.deepEqual(offeredTools(), ["open_url", "current_time"]);
  assert.deepEqual(["web_search", "current_time", "tides__levels"].map(isConfigured), [false, true, false]);
});

test("tools of servers are offered by the names of their servers, all together or one by one", () => {
  setUpTools("current_time tides__* tides__levels");
  assert.deepEqual(offeredTools().slice(1), ["tides__*", "tides__levels"]);
  assert.deepEqual(singleTools(["tides__*", "current_time", "winds__*"]), ["tides__levels", "current_time"]);
  assert.equal(nameOf("tides__set__level"), "tides: set__level");
});

test("below the name of its server, a tool has the name that people read", () => {
  setUpTools("");
  assert.deepEqual(["tides__get_levels", "tides__setLevel", "tides__*"].map(labelOf), [
    "Get levels",
    "Set Level",
    "All tools of tides",
  ]);
  assert.deepEqual(["tides__set__level", "current_time"].map(serverOf), ["tides", ""]);
  assert.equal(allOfServer("tides__set__level"), "tides__*");
});

test("another model is offered only where it can help, in words and by a button", () => {
  const helped = Object.keys(RUN_ERRORS).filter(canAnotherModelHelp);
  const saying = Object.entries(RUN_ERRORS)
    .filter(([, text]) => /(another|other) (model|one)|larger window/.test(text()))
    .map(([code]) => code);
  assert.deepEqual(
    saying.filter((code) => !helped.includes(code)),
    [],
  );
  assert.ok(!canAnotherModelHelp("tool_not_configured"));
  assert.ok(canAnotherModelHelp("upstream_unavailable"));
});
