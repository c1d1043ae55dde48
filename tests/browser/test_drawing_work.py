"""How much is done for a frame while an answer is written: a phone has a quarter of this machine's speed.

Work is counted, and not measured: bench/browser.py measures.
"""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.reader import Reader, wait_for_script
from tests.stack import Stack

pytestmark = pytest.mark.browser

BLOCKS = [f"Paragraph {number} says **something** and ends." for number in range(6)]
# Returns how many blocks are drawn at once of a live text, after each frame that follows, and at once when the text is complete.
FRAMES = """async ({ blocks, budgetMs }) => {
  const { MarkdownView } = await import("/static/chat/markdown/markdown.js");
  const element = document.createElement("div");
  document.querySelector("#scroller").append(element);
  const counts = [];
  const count = () => counts.push(element.children.length);
  const frame = () => new Promise(requestAnimationFrame);
  const view = new MarkdownView(element, { budgetMs });
  view.show(blocks.join("\\n\\n"), { isLive: true });
  count();
  // Ours is asked for after the view's, so it comes after it in the same frame.
  while (element.children.length < blocks.length && counts.length < 100) { await frame(); count(); }
  const grown = [...blocks, ...blocks.map((block) => `${block} More.`)];
  view.show(grown.join("\\n\\n"), { isLive: true });
  view.show(grown.join("\\n\\n"));
  const whole = document.createElement("div");
  new MarkdownView(whole).show(grown.join("\\n\\n"));
  const isSame = element.innerHTML === whole.innerHTML;
  element.remove();
  return { counts, isSame };
}"""
# Notes what changes on the page but the text that grows.
WATCH = """() => {
  window.changed = [];
  const article = document.querySelector("article.answer");
  new MutationObserver((records) => {
    for (const { target, type, attributeName } of records) {
      const element = target instanceof Element ? target : target.parentElement;
      if (!element.closest(".body")) changed.push(`${type} ${attributeName ?? ""} ${element.nodeName} ${element.className}`);
    }
  }).observe(article, { subtree: true, childList: true, characterData: true, attributes: true });
}"""
# Returns the names that are missing or too many, and the languages that are prepared after code in two was shown.
LANGUAGES = """async () => {
  const [{ LANGUAGES, prepare, highlightCode }, { default: hljs }] = await Promise.all([
    import("/static/chat/markdown/highlighter.js"), import("highlight")]);
  const atFirst = hljs.listLanguages();
  const isKnown = ["py", "html", "klingon"].map((name) => prepare(name));
  const code = highlightCode("<style>a { color: red }</style>", "xml");
  const prepared = hljs.listLanguages();
  const wrong = Object.keys(LANGUAGES).filter((name) => {
    prepare(name);
    return (hljs.getLanguage(name).aliases ?? []).join(" ") !== (LANGUAGES[name].aliases ?? "");
  });
  return { atFirst, isKnown, prepared, wrong, hasStyle: code.includes("hljs-attribute") };
}"""


def frames(reader: Reader, budget_ms: int | None) -> dict[str, Any]:
    result: dict[str, Any] = reader.page.evaluate(
        FRAMES, {"blocks": BLOCKS, **({} if budget_ms is None else {"budgetMs": budget_ms})}
    )
    return result


def test_a_live_text_without_time_left_is_drawn_one_block_per_frame_and_whole_at_its_end(
    reader: Reader,
) -> None:
    drawn = frames(reader, budget_ms=0)
    assert drawn["counts"] == [1, 2, 3, 4, 5, 6]
    assert drawn["isSame"]


def test_a_text_without_a_budget_is_drawn_at_once(reader: Reader) -> None:
    assert frames(reader, budget_ms=None) == {"counts": [6], "isSame": True}


def test_while_a_text_grows_nothing_else_of_its_answer_changes(reader: Reader, stack: Stack) -> None:
    stack.upstream.reply(
        {"text": "It begins"}, {"wait": "begun"}, *[{"text": f" and goes on {number}"} for number in range(30)],
        {"wait": "grown"}, {"text": ", and ends."},
    )  # fmt: skip
    reader.send("Write")
    reader.expect_partial_answer("It begins")
    reader.page.evaluate(WATCH)
    stack.upstream.release("begun")
    expect(reader.answers.locator(".body")).to_contain_text("and goes on 29")
    assert reader.page.evaluate("changed") == []
    stack.upstream.release("grown")
    expect(reader.answers).to_have_attribute("aria-busy", "false")
    # The actions appear below it.
    wait_for_script(reader.page, "changed.length > 0")


def test_a_language_is_prepared_when_code_in_it_is_shown_with_those_inside_it(reader: Reader) -> None:
    found = reader.page.evaluate(LANGUAGES)
    assert found["atFirst"] == []
    assert found["isKnown"] == [True, True, False]
    assert set(found["prepared"]) == {"python", "xml", "css", "javascript", "graphql"}
    assert found["wrong"] == []
    assert found["hasStyle"]
