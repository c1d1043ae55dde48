import assert from "node:assert/strict";
import { test } from "node:test";

import { GrowingTokens } from "../../../web/static/chat/markdown/growing_tokens.js";
import { marked } from "../../../web/static/chat/markdown/markdown_rules.js";
import { ownImage } from "../../../web/static/chat/markdown/safe_html.js";

const shown = (text) => marked.parser(new GrowingTokens().read(text, false).tokens).trim();
const words = (html) => html.replace(/<[^>]*>/g, "");

for (const [text, html] of Object.entries({
  "It takes 3~4 weeks, then 5~6 days.": "<p>It takes 3~4 weeks, then 5~6 days.</p>",
  "价格约为~100元，有效期~30天。": "<p>价格约为~100元，有效期~30天。</p>",
  "~/a and ~/b": "<p>~/a and ~/b</p>",
  "~~gone~~ 3~4": "<p><del>gone</del> 3~4</p>",
  "旧价~~「100元」~~了": "<p>旧价<del>「100元」</del>了</p>",
})) {
  test(`one tilde is a tilde, two strike out: ${text}`, () => assert.equal(shown(text), html));
}

for (const [text, html] of Object.entries({
  "这是**“重要”**的内容，**注意：**请看。": "<p>这是<strong>“重要”</strong>的内容，<strong>注意：</strong>请看。</p>",
  "これは**「重要」**です。": "<p>これは<strong>「重要」</strong>です。</p>",
  "중요한 **단어(word)**는 굵다.": "<p>중요한 <strong>단어(word)</strong>는 굵다.</p>",
  "使用**`code`**和*（斜体）*字": "<p>使用<strong><code>code</code></strong>和<em>（斜体）</em>字</p>",
  "甲**乙*（丙）*丁**戊": "<p>甲<strong>乙<em>（丙）</em>丁</strong>戊</p>",
  "a * b * c and a**(b)**c": "<p>a * b * c and a**(b)**c</p>",
  '**"quoted"** word': "<p><strong>&quot;quoted&quot;</strong> word</p>",
  "_「x」_。": "<p><em>「x」</em>。</p>",
})) {
  test(`bold and italic beside CJK, and elsewhere as CommonMark says: ${text}`, () => assert.equal(shown(text), html));
}

test("formulas in brackets are set within a line, a list item and a cell", () => {
  const text =
    "The result is \\[\\frac{1}{2}\\].\n\n- Answer: \\[\\boxed{42}\\]\n- Root: \\[\\sqrt{2}\\]\n- \\(x\\) and \\[a + b\\]\n\n| a |\n|---|\n| \\[\\pi\\] and \\(y\\) |\n";
  assert.deepEqual(
    [...shown(text).matchAll(/class="math[^>]*>([^<]*)</g)].map(([, tex]) => tex),
    ["\\frac{1}{2}", "\\boxed{42}", "\\sqrt{2}", "x", "a + b", "\\pi", "y"],
  );
});

test("brackets that are only escaped stay brackets", () => {
  for (const text of ["see \\[1\\] there", "\\[x\\] done", "an \\[aside\\] here", "\\[a\\] b = c"])
    assert.ok(!shown(text).includes("math"), text);
});

test("a definition of a link that nothing refers to is shown", () => {
  assert.equal(words(shown("[1]: https://example.org/a")), "[1]: https://example.org/a");
  assert.match(shown("[1]: https://example.org/a"), /<a href="https:\/\/example.org\/a">/);
  assert.match(
    words(shown("Sources:\n\n[note]: important\n\n- [a]: b\n\n> [c]: d\n")),
    /\[note\]: important[\s\S]*\[a\]: b[\s\S]*\[c\]: d/,
  );
});

test("a definition that is used stays hidden", () => {
  assert.equal(
    shown("See [It] and [it].\n\n[it]: https://x.org\n"),
    '<p>See <a href="https://x.org">It</a> and <a href="https://x.org">it</a>.</p>',
  );
});

test("an unused definition far above the end is shown when the text has ended", () => {
  const text = "[1]: https://x.org\n\nOne.\n\nTwo.\n\nThree.\n\nFour.\n";
  const growing = new GrowingTokens();
  let blocks = [];
  for (let end = 1; end <= text.length; end += 1) {
    const { from, tokens } = growing.read(text.slice(0, end), end < text.length);
    blocks = [...blocks.slice(0, from), ...tokens.map((token) => marked.parser([token]))];
  }
  assert.match(words(blocks.join("")), /^\[1\]: https:\/\/x.org\s+One\./);
});

test("a footnote stands where it is written, and its sign where it is referred to", () => {
  assert.equal(
    shown("A claim.[^1] Another.[^Note]\n\n[^1]: Smith,\n    p. 3\n\n    More.\n[^note]: *Jones*\n"),
    '<p>A claim.<sup class="footnote-reference">1</sup> Another.<sup class="footnote-reference">Note</sup></p>\n' +
      '<div class="footnote"><sup class="footnote-mark">1</sup><div><p>Smith,\np. 3</p>\n<p>More.</p>\n</div></div>\n' +
      '<div class="footnote"><sup class="footnote-mark">note</sup><div><p><em>Jones</em></p>\n</div></div>',
  );
});

for (const text of [
  "A claim.[^1]",
  "Matches [^abc] and [^0-9]+ once",
  "In `[^1]` code\n\n    [^1]: code",
  "[^1](https://x.org)",
  "[^]: x",
]) {
  test(`what no note belongs to stays as it is written: ${text}`, () =>
    assert.ok(!shown(text).includes("footnote"), shown(text)));
}

test("a reference without a note is shown as it is written when the text has ended, however far above", () => {
  const text = "One.[^1] And [^word].\n\nTwo.\n\nThree.\n\nFour.\n";
  const growing = new GrowingTokens();
  let blocks = [];
  for (let end = 1; end <= text.length; end += 1) {
    const { from, tokens } = growing.read(text.slice(0, end), end < text.length);
    blocks = [...blocks.slice(0, from), ...tokens.map((token) => marked.parser([token]))];
  }
  assert.match(blocks.join(""), /^<p>One\.\[\^1\] And \[\^word\]\.<\/p>/);
});

test("details hold Markdown, and details", () => {
  assert.equal(
    shown(
      "<details open><summary>A <b>b</b> `c`</summary>\n\n- d\n\n<details>\n\n**e**\n\n</details>\n\n</details>\nf",
    ),
    "<details open><summary>A b <code>c</code></summary><ul>\n<li>d</li>\n</ul>\n<details><p><strong>e</strong></p>\n</details>\n</details>\n<p>f</p>",
  );
});

test("tags that would run or imitate something stay text in labels, notes and summaries", () => {
  const hostile = "<img src=x onerror=alert(1)>";
  const html = shown(
    `A[^${"<b>"}] b\n\n[^<b>]: ${hostile}\n\n<details onclick="x()"><summary>${hostile}</summary>\n\n${hostile}\n\n</details>\n`,
  );
  assert.ok(!/<(?:img|b)\b|<details [^>]*on/.test(html), html);
});

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
