import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";

import { OlderMessages } from "../../../web/static/chat/conversation/scrolling.js";

/** As that of browsers: what begins to be observed is reported, and nothing more while it does not move. */
class Observer {
  constructor(report) {
    this.report = report;
    this.observed = new Set();
  }
  observe(element) {
    if (this.observed.has(element)) return;
    this.observed.add(element);
    this.report([{ isIntersecting: true }]);
  }
  unobserve(element) {
    this.observed.delete(element);
  }
  disconnect() {
    this.observed.clear();
  }
}

beforeEach(() => {
  mock.timers.enable({ apis: ["setTimeout"] });
  Object.assign(globalThis, {
    CSS: { supports: () => true },
    IntersectionObserver: Observer,
    Node: class {},
    document: { createElement: () => ({ setAttribute() {}, append() {} }) },
  });
});
afterEach(() => mock.timers.reset());

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** @param {boolean[]} answers whether each read succeeds */
function atTheTop(...answers) {
  const ask = mock.fn(async () => answers.shift());
  const older = new OlderMessages({ scrollTop: 0, scrollHeight: 100 }, ask);
  older.done("m9", true);
  return { older, ask };
}

test("older messages that could not be read are asked for again after a pause", async () => {
  const { ask } = atTheTop(false, false, true);
  for (const calls of [1, 2, 3, 3]) {
    assert.equal(ask.mock.callCount(), calls);
    await turn();
    assert.equal(ask.mock.callCount(), calls, "not at once");
    mock.timers.tick(2_000);
  }
});

test("they are not asked for again once others, or another chat, stand at the top", async () => {
  const { older, ask } = atTheTop(false);
  await turn();
  older.done("m1", false);
  mock.timers.tick(2_000);
  assert.equal(ask.mock.callCount(), 1);
});
