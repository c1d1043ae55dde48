/** Which blocks of code are previewed, and when they are whole. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { marked } from "../../../web/static/chat/markdown/markdown_rules.js";
import { previewKind } from "../../../web/static/chat/preview/block_preview.js";

test("languages that mean a picture or a page are previewed, and no others", () => {
  assert.equal(previewKind("mermaid", "pie"), "diagram");
  assert.equal(previewKind("html", "<p>"), "html");
  assert.equal(previewKind("svg", "<svg/>"), "svg");
  for (const language of ["", "js", "constructor", "__proto__", "css"])
    assert.equal(previewKind(language, "<svg/>"), null);
});

test("XML is previewed if it is a drawing", () => {
  assert.equal(previewKind("xml", '<?xml version="1.0"?>\n<svg xmlns="x">'), "svg");
  assert.equal(previewKind("xml", "<note><svg/></note>"), null);
});

test("code is unfinished until its fence is closed, wherever it stands", () => {
  const isUnfinished = (text) => marked.parse(text).includes('<pre class="unfinished">');
  assert.ok(isUnfinished("```html\n<p>"));
  assert.ok(isUnfinished("````html\n```\n"));
  assert.ok(isUnfinished("~~~html\n```"));
  assert.ok(isUnfinished("- item\n\n  ```html\n  <p>"));
  for (const whole of [
    "```html\n<p>\n```",
    "```html\n```\n\nMore",
    "~~~html\n<p>\n~~~~",
    "- item\n\n  ```html\n  <p>\n  ```\n- next",
    "> ```html\n> x\n> ```\n",
    "    indented",
  ]) {
    assert.ok(!isUnfinished(whole), whole);
  }
});
