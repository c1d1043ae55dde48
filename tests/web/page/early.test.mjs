import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const SCRIPT = readFileSync(new URL("../../../web/static/chat/early.js", import.meta.url), "utf8");

/** Whether a key in the composer's field is remembered while the page loads. */
function isRemembered(key) {
  const handlers = {};
  const form = { id: "composer", dataset: {}, querySelector: () => ({ value: "text" }) };
  const globals = {
    addEventListener: (type, handler) => (handlers[type] = handler),
    document: { body: { classList: { toggle() {} } } },
    location: { hash: "" },
    localStorage: { getItem: () => null },
    matchMedia: () => ({ matches: false }),
  };
  new Function(...Object.keys(globals), SCRIPT)(...Object.values(globals));
  handlers.keydown({ target: { matches: () => true, closest: () => form }, preventDefault() {}, ...key });
  return "entered" in form.dataset;
}

for (const [key, expected] of [
  [{ key: "Enter" }, true],
  [{ key: "Enter", shiftKey: true }, false],
  [{ key: "Enter", isComposing: true }, false],
  [{ key: "Enter", keyCode: 229 }, false],
]) {
  test(`while the page loads, ${JSON.stringify(key)} ${expected ? "is" : "is not"} remembered`, () =>
    assert.equal(isRemembered(key), expected));
}
