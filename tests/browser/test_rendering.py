"""Rendering of growing texts: code, formulas, tables, auto-scrolling, long chats."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader
from tests.stack import Stack

pytestmark = pytest.mark.browser

RICH = (
    r"""
Inline $x^2$ and

$$
\frac{a}{b}
$$

```python
def tide(hour: int) -> str:
    return "high"  # twice a day
```

| a | b | c |
|---|---|---|
| wide | """
    + "word" * 60
    + r""" | $\sqrt{x}$ |
"""
)

# Shows a growing text and returns how many nodes each step added, at most, and whether what was there stayed.
GROW = """async ({ text, step }) => {
  const { MarkdownView } = await import("/static/chat/markdown/markdown.js");
  const { loadHighlighter } = await import("/static/chat/markdown/code_lines.js");
  await Promise.all([loadHighlighter(), import("temml")]);
  const element = document.createElement("div");
  document.querySelector("#scroller").append(element);
  const view = new MarkdownView(element);
  const changes = new MutationObserver(() => {});
  changes.observe(element, { childList: true, subtree: true });
  let most = 0;
  let first = null;
  for (let end = step; end <= text.length; end += step) {
    view.show(text.slice(0, end), { isLive: true });
    first ??= element.querySelector("li");
    const nodes = changes.takeRecords().flatMap(({ addedNodes }) => [...addedNodes]);
    most = Math.max(most, nodes.length);
  }
  view.show(text);
  const grown = element.innerHTML;
  const atOnce = document.createElement("div");
  new MarkdownView(atOnce).show(text);
  return { most, isKept: first.isConnected, isSame: grown === atOnce.innerHTML, lines: element.querySelectorAll(".line").length };
}"""


@pytest.mark.core
def test_code_formulas_and_tables_are_drawn(caller: Reader, stack: Stack) -> None:
    stack.upstream.reply(*({"text": RICH[i : i + 9]} for i in range(0, len(RICH), 9)))
    caller.context.grant_permissions(["clipboard-read", "clipboard-write"])
    caller.send("Show me all")
    body = caller.answers.locator(".body")
    expect(caller.answers).to_have_attribute("aria-busy", "false")
    expect(body.locator("math")).to_have_count(3)
    expect(body.locator("math mfrac")).to_have_count(1)
    expect(body.locator(".code .language")).to_have_text("python")
    expect(body.locator(".code .keyword").first).to_have_text("def")
    expect(body.locator(".code .comment")).to_have_text("# twice a day")
    body.get_by_role("button", name="Copy code").click()
    expect(body.get_by_role("button", name="Copied")).to_be_visible()
    copied = caller.page.evaluate("navigator.clipboard.readText()")
    assert copied == 'def tide(hour: int) -> str:\n    return "high"  # twice a day'
    with caller.page.expect_download() as saved:
        body.get_by_role("button", name="Download code").click()
    assert saved.value.suggested_filename == "answer.py"
    assert saved.value.path().read_text() == f"{copied}\n"
    assert body.locator(".table").evaluate("e => e.scrollWidth > e.clientWidth")
    assert caller.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert caller.page.locator("#scroller").evaluate("e => e.scrollWidth <= e.clientWidth")
    # A bubble ends where its text does.
    expect(caller.questions.locator(".markdown > :last-child")).to_have_css("margin-bottom", "0px")


def test_a_table_is_copied_as_cells_and_as_csv_while_it_stays_in_place(caller: Reader, stack: Stack) -> None:
    stack.upstream.reply(
        {"text": "| Port | High |\n|---|---|\n| Köln, *old* | 4 m |\n"},
        {"wait": "the rest"},
        {"text": "| Bonn | `=1+1` |\n\nDone."},
    )
    caller.context.grant_permissions(["clipboard-read", "clipboard-write"])
    caller.send("Show me a table")
    body = caller.answers.locator(".body")
    copy = body.get_by_role("button", name="Copy table")
    expect(copy).to_be_visible()
    copy.focus()
    stack.upstream.release("the rest")
    expect(body.locator("td")).to_have_count(4)
    expect(copy).to_be_focused()
    copy.click()
    expect(body.get_by_role("button", name="Copied")).to_be_visible()
    clipboard = "navigator.clipboard.readText()"
    assert caller.page.evaluate(clipboard) == "Port\tHigh\nKöln, old\t4 m\nBonn\t'=1+1"
    body.get_by_role("button", name="Copy as CSV").click()
    expect(body.get_by_role("button", name="Copied")).to_have_count(2)
    copied = caller.page.evaluate(clipboard).replace("\r\n", "\n")
    assert copied == 'Port,High\n"Köln, old",4 m\nBonn,\'=1+1'
    assert violations_in_both_themes(caller.page) == []


def test_long_lines_of_code_are_wrapped_when_asked_and_the_device_remembers_it(
    caller: Reader, stack: Stack
) -> None:
    code = f"```text\n{'wide ' * 60}\n```\n"
    stack.upstream.reply({"text": code * 2})
    caller.send("Show me code")
    wide = caller.answers.locator("pre")
    buttons = caller.answers.get_by_role("button", name="Wrap lines")
    expect(buttons).to_have_count(2)
    assert wide.last.evaluate("e => e.scrollWidth > e.clientWidth")
    buttons.first.click()
    caller.page.reload()
    expect(buttons.last).to_have_attribute("aria-pressed", "true")
    assert wide.last.evaluate("e => e.scrollWidth <= e.clientWidth")
    assert violations_in_both_themes(caller.page) == []
    buttons.last.click()
    expect(buttons.first).to_have_attribute("aria-pressed", "false")
    assert wide.first.evaluate("e => e.scrollWidth > e.clientWidth")


@pytest.mark.core
def test_a_growing_text_touches_only_its_end(reader: Reader) -> None:
    item = "- item with **bold**, `code` and $x_{%d}$\n"
    text = (
        "".join(item % n for n in range(60))
        + "\n```js\n"
        + "const a = () => `b${1}`; // c\n" * 120
        + "```\n"
        + RICH
    )
    grown = reader.page.evaluate(GROW, {"text": text, "step": 11})
    assert grown["isKept"]
    assert grown["isSame"]
    assert grown["lines"] == 120 + 2
    # One line of a table or of code, an item: never a block.
    assert grown["most"] <= 40


# Once the scrolling has come to rest: the line in the middle of the view, and where it stands.
STILL = """
async (scroller) => {
  const frame = () => new Promise(requestAnimationFrame);
  for (let still = 0, top = NaN; still < 5; top = scroller.scrollTop) {
    still = scroller.scrollTop === top ? still + 1 : 0;
    await frame();
  }
  const topOf = (line) => line.getBoundingClientRect().top;
  const line = [...scroller.querySelectorAll(".answer p")].find((line) => topOf(line) > innerHeight / 2);
  return { line, top: topOf(line) };
}
"""


def test_the_end_is_followed_until_the_reader_scrolls_up(reader: Reader, stack: Stack) -> None:
    lines = [{"text": f"line {n}\n\n"} for n in range(60)]
    stack.upstream.reply(*lines, {"wait": "more"}, *lines, {"wait": "end"}, {"text": "The end."})
    reader.send("Write a lot")
    scroller, button = (
        reader.page.locator("#scroller"),
        reader.page.get_by_role("button", name="Jump to the end"),
    )
    expect(reader.answers.get_by_text("line 59").first).to_be_in_viewport()
    expect(button).to_be_hidden()
    scroller.hover()
    reader.page.mouse.wheel(0, -700)
    expect(button).to_be_visible()
    read = scroller.evaluate_handle(STILL)
    stack.upstream.release("more")
    expect(reader.answers.get_by_text("line 59")).to_have_count(2)
    assert read.evaluate("({line, top}) => Math.abs(line.getBoundingClientRect().top - top)") < 2
    button.click()
    expect(button).to_be_hidden()
    expect(reader.answers.get_by_text("line 59").nth(1)).to_be_in_viewport()
    stack.upstream.release("end")
    expect(reader.answers.get_by_text("The end.")).to_be_in_viewport()


MESSAGES = 220
LONG_CHAT = f"""
from django.contrib.auth.models import User
from bench.seed import create_tree
print(create_tree(User.objects.get(username="alice"), {MESSAGES}, {MESSAGES})["session"])
"""


def test_a_long_chat_opens_at_its_end_and_is_read_on_while_scrolling(reader: Reader, stack: Stack) -> None:
    session = re.findall(r"[0-9a-f-]{36}", stack.manage("shell", "-c", LONG_CHAT))[-1]
    reader.page.goto(f"{reader.base_url}/#{session}")
    messages, scroller = reader.page.locator("article.message"), reader.page.locator("#scroller")
    expect(messages.last).to_be_in_viewport()
    # What is near is read ahead; the beginning is not.
    assert messages.count() < MESSAGES
    scroller.hover()
    while reader.page.locator(".older").count():
        reader.page.mouse.wheel(0, -2000)
        reader.page.wait_for_timeout(50)
    expect(messages).to_have_count(MESSAGES)
    scroller.evaluate("e => e.scrollTo(0, 0)")
    expect(messages.first).to_be_in_viewport()
    stack.upstream.reply({"text": "Still here."})
    reader.send("One more")
    expect(reader.answers.last).to_contain_text("Still here.")
    expect(messages).to_have_count(MESSAGES + 2)
    expect(messages.last).to_be_in_viewport()
