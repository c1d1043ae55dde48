import assert from "node:assert/strict";
import { test } from "node:test";

import { layerOver, merged } from "../../../web/static/chat/composer/chat_options.js";

const AGENT = { temperature: 0.5, stop: ["END"], seed: 1 };

test("the later layer applies, and null takes away what stands below", () => {
  assert.deepEqual(merged(AGENT, { temperature: 1, seed: null }, { top_p: 0.5 }), {
    temperature: 1,
    stop: ["END"],
    top_p: 0.5,
  });
  assert.deepEqual(merged(AGENT, { seed: null }, { seed: 2 }), { ...AGENT, seed: 2 });
  assert.deepEqual(merged(), {});
});

test("a layer has what differs from those below it alone, so that their later changes apply", () => {
  assert.deepEqual(layerOver(AGENT, AGENT), {});
  assert.deepEqual(layerOver(AGENT, { temperature: 0, stop: ["END"] }), { temperature: 0, seed: null });
  assert.deepEqual(layerOver({}, { seed: 0 }), { seed: 0 });
});

test("a layer over others leads to what was wanted", () => {
  for (const wanted of [{}, AGENT, { top_p: 1 }, { ...AGENT, stop: ["A", "B"] }]) {
    assert.deepEqual(merged(AGENT, layerOver(AGENT, wanted)), wanted);
  }
});
