import assert from "node:assert/strict";
import { test } from "node:test";

import { GrowingTokens } from "../../../web/static/chat/markdown/growing_tokens.js";
import { marked } from "../../../web/static/chat/markdown/markdown_rules.js";
import { completeMarkdown } from "../../../web/static/chat/markdown/unfinished_markdown.js";

/** Everything models write, in an order that brings neighbours together that could be mistaken for one another. */
const RICH = `# Head **bold** text

Some *em* and \`code\` with [link](https://x.org "t") and [[1]](https://y.org) and [2], $x^2$ costs $5 and $10.

Intro:
- one
- two **b
  more** x
  1. sub _a_ snake_case
  2. ~~gone~~ **a *b* c**

| a | b |
|---|:-:|
| 1 | \`x\` |
| **3** | $y$ |

After \\(a+b\\) it & that < those; 2 * 3 ** 4; [not a link] and (so) [on].

\`\`\`py
def f(x):
    return "a"  # \`not\` **this** $or$ this
\`\`\`

~~~
no language
~~~

$$
\\frac{a}{b}
$$

\\[ x = y \\]

> quote **strong**
> more

- [x] done
- [ ] not

1. first

   \`\`\`js
   let a = [1, 2];
   \`\`\`
2. second

\\begin{align}
a &= b
\\end{align}

---

End &amp; <br> x<sub>2</sub> https://example.org/a?b=c and <b>raw</b>.
`;

const whole = (text) => marked.parser(new marked.Lexer(marked.defaults).lex(text));
const seen = (html) => html.replace(/<[^>]*>/g, "").replace(/\s+/g, "");
/** Without cells: those of a row are all there when its first is written; and without what says that code goes on. */
const tags = (html) =>
  (html.match(/<(?!td)[a-z][^>]*>/g) ?? []).map((tag) =>
    tag.replace(/ (?:href|title)="[^"]*"| class="unfinished"| open(?=")/g, ""),
  );

/** Reads a text piece by piece as the page does, and gives the HTML after each. */
function* grown(text, ends) {
  const growing = new GrowingTokens();
  let blocks = [];
  for (const end of ends) {
    const { from, tokens } = growing.read(text.slice(0, end), end < text.length);
    blocks = [...blocks.slice(0, from), ...tokens.map((token) => marked.parser([token]))];
    yield blocks.join("");
  }
}

/** Footnotes and details, with neighbours that could be mistaken for them. */
const FOLDED = `A claim[^1] and another.[^2] An array[^3]: it has
two lines.[^1]

<details>
<summary>The <b>whole</b> *table*</summary>

| a | b |
|---|---|
| 1 | 2 |

\`\`\`html
</details>
\`\`\`

<details><summary>Inner</summary>

- one[^2]
- two

</details>

After **the inner** one.
</details>

Next to it.

[^1]: Smith, *On notes*, p. 3
    goes on **here**

    and in a paragraph of its own.
[^2]: https://example.org/a
[^3]: Last.

The end.
`;

const everyEnd = (text) => Array.from({ length: text.length }, (_, i) => i + 1);

for (const [name, text] of Object.entries({ "everything at once": RICH, "footnotes and details": FOLDED })) {
  test(`what shows while a text grows is a beginning of what shows at its end: ${name}`, () => {
    const [words, elements] = [seen(whole(text)), tags(whole(text))];
    let end = 0;
    for (const html of grown(text, everyEnd(text))) {
      end += 1;
      const after = `after ${JSON.stringify(text.slice(Math.max(0, end - 30), end))}`;
      assert.ok(words.startsWith(seen(html).replace(/\\end\{\w+\}$/, "")), `${after}: ${seen(html).slice(-60)}`);
      assert.deepEqual(tags(html), elements.slice(0, tags(html).length), after);
    }
  });
}

test("nothing is held back for long", () => {
  let end = 0;
  for (const html of grown(RICH, everyEnd(RICH))) {
    end += 1;
    const shown = seen(html).length;
    const [read] = grown(RICH.slice(0, end), [end]);
    assert.ok(seen(read).length - shown <= 110, `after ${JSON.stringify(RICH.slice(end - 30, end))}`);
  }
});

/** The texts that bend the rules of where a block ends. */
const TEXTS = {
  "everything at once": RICH,
  "footnotes and details": FOLDED,
  "notes far above and below their words":
    "[^b]: First\n\nOne[^b]\n\nTwo[^word]\n\nThree\n\nFour\n\n[^word]: *x*\n\n  y\n- z\n",
  "details that end never": "<details>\n<summary>a</summary>\n\nb\n\n```\n</details>\n\nc\n",
  "a definition far below its use":
    "See [it] and [1].\n\nMore.\n\nAnd more.\n\n[it]: https://x.org\n\n[1]: https://y.org 'T'\n\nEnd [it].\n",
  "a definition with a title on its next line": 'A [b].\n\nc\n\nd\n\n[b]: https://x.org\n"title"\n\nend\n',
  "lists that go on after a blank line": "- a\n\n- b\n\n  c\n\n      d\n\ne\n\n1. x\n\n\n2. y\n",
  "headings by underline": "One\ntwo\n===\n\nthree\n---\nfour\n",
  "fences inside fences": "````md\n```js\nlet a;\n```\n````\nafter\n```\nopen to the end\n\nreally",
  "HTML blocks": "<div>\n*a*\n\n*b*\n</div>\n\n<!-- a\n\nb -->\n\n<script>\n\nx</script>\nend\n\n<pre>\n\n",
  "old and older line ends": "a\r\n\r\n- b\r\n- c\r\rd\r\n",
  "formulas that end never": "a\n\n$$\nx\n\nb\n\n\\[ c\n\nd $e f\n\n\\begin{x}\n",
  "tables that are none": "| a | b\n\n| c |\n|---|\n\n| d |\nno\n|---|\n",
  "markup and nothing else": "**\n\n__\n\n`\n\n[\n\n![](\n\n$\n\n~~\n\n> \n\n- \n",
};

for (const [name, text] of Object.entries(TEXTS)) {
  test(`a text read in pieces ends as if it had been read at once: ${name}`, () => {
    for (const step of [1, 2, 3, 7, 31]) {
      const ends = everyEnd(text).filter((end) => end % step === 0 || end === text.length);
      assert.equal([...grown(text, ends)].at(-1), whole(text.replace(/\r\n?/g, "\n")), `in steps of ${step}`);
    }
  });
}

test("a text that is replaced by another shows the other", () => {
  const growing = new GrowingTokens();
  growing.read(RICH, true);
  const { from, tokens } = growing.read("# Other\n", false);
  assert.equal(from, 0);
  assert.equal(marked.parser(tokens), "<h1>Other</h1>\n");
});

test("a text of brackets is completed as soon as one of letters, not thousands of times later", () => {
  /** @param {string} part the shortest of three times, in ms */
  const shortest = (part) => {
    const times = [1, 2, 3].map(() => {
      const begun = performance.now();
      completeMarkdown(part.repeat(40_000));
      return performance.now() - begun;
    });
    return Math.min(...times);
  };
  const letters = shortest("a");
  for (const part of ["[", "[1"]) assert.ok(shortest(part) < 300 * letters, part);
});

test("quotes and lists inside each other without end are shown as they are written", () => {
  for (const mark of ["> ", "- ", "1. ", "* > "]) {
    const text = `${mark.repeat(6_000)}tides`;
    for (const isLive of [true, false]) {
      const html = marked.parser(new GrowingTokens().read(text, isLive).tokens);
      assert.ok(html.includes("tides"), mark);
    }
  }
});

test("of a long text only the end is read again", () => {
  const growing = new GrowingTokens();
  growing.read(RICH.repeat(20), true);
  const { from, tokens } = growing.read(`${RICH.repeat(20)}And on`, true);
  assert.ok(from > 300, String(from));
  assert.ok(tokens.length < 8, String(tokens.length));
});

test("a dollar is money unless it is a formula's", () => {
  for (const text of ["from $5 to $10", "US$5 or 10$", "$5 and 10$ more", "`$x$`", "\\$x\\$", "$ x $"]) {
    assert.ok(!whole(text).includes("math"), text);
  }
  for (const text of ["$x$", "$5 + x$", "$\\$5$", "$$x$$", "($a_1$, $b_1$)", "$n$th"]) {
    assert.equal(whole(text).includes("math"), !text.endsWith("th"), text);
  }
});

test("a link is a link as soon as its address begins", () => {
  assert.equal(completeMarkdown("See [the docs](https://exa"), "See [the docs]()");
  assert.equal(completeMarkdown("See [the do"), "See ");
  assert.equal(completeMarkdown("As [1]"), "As ");
  assert.equal(completeMarkdown("Cost **$5"), "Cost **$5**");
});

test("line breaks of questions are kept, and those of answers are not", () => {
  const read = (options) => marked.parser(new GrowingTokens(options).read("one\n  two\n\n- a\n  b", false).tokens);
  assert.match(read({ breaks: true }), /<p>one<br>\s*two<\/p>[\s\S]*a<br>b/);
  assert.doesNotMatch(read(), /<br>/);
});
