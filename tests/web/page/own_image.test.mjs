import assert from "node:assert/strict";
import { test } from "node:test";

import { marked } from "../../../web/static/chat/markdown/markdown_rules.js";
import { ownImage } from "../../../web/static/chat/markdown/safe_html.js";

const ORIGIN = "https://chat.example";
const FILE = "/api/files/0190d1a2-3b4c-7d5e-8f60-718293a4b5c6/content/";

for (const [address, path] of [
  [FILE, FILE],
  [ORIGIN + FILE, FILE],
  [FILE.replace("content", "thumbnail"), FILE.replace("content", "thumbnail")],
  [FILE.replace("content", "text"), null],
  [FILE.replace("content/", ""), null],
  [`${FILE}?next=//far.example`, null],
  [`${FILE}#x`, null],
  [`${FILE}../`, null],
  [`/x/..${FILE}`, null],
  [`.${FILE}`, null],
  [FILE.slice(1), null],
  [` ${FILE}`, null],
  [FILE.replace("/api", "/\tapi"), null],
  [FILE.replace("files", "%66iles"), null],
  [FILE.replaceAll("/", "\\"), null],
  [`/${FILE}`, null],
  [`//chat.example${FILE}`, null],
  [`//far.example${FILE}`, null],
  [`/\\far.example${FILE}`, null],
  [`https:${FILE}`, null],
  [`http://chat.example${FILE}`, null],
  [`https://chat.example:8443${FILE}`, null],
  [`https://chat.example.far.example${FILE}`, null],
  [`https://me@chat.example${FILE}`, null],
  [`https://far.example${FILE}`, null],
  [`javascript:${FILE}`, null],
  ["data:image/png;base64,iVBORw0KGgo=", null],
  ["data:image/svg+xml,<svg/>", null],
  [`blob:${ORIGIN}/0190d1a2-3b4c-7d5e-8f60-718293a4b5c6`, null],
  ["file:///etc/passwd", null],
  ["/api/sessions/", null],
  ["/language/?next=https://far.example", null],
  ["/", null],
  ["", null],
]) {
  test(`${path ? "shown" : "not shown"}: ${JSON.stringify(address)}`, () =>
    assert.equal(ownImage(address, ORIGIN), path));
}

test("an image is a picture or a link with its alternative text", () => {
  assert.equal(
    marked.parse(`![a "b"](${FILE})`).trim(),
    `<p><img src="${FILE}" alt="a &#34;b&#34;" loading="lazy" decoding="async"></p>`,
  );
  assert.equal(
    marked.parse("![a <b>](//far.example/x.png)").trim(),
    '<p><a href="//far.example/x.png">a &#60;b&#62;</a></p>',
  );
});
