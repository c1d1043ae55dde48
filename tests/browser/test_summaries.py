"""Compression of long chats: "compress now", its progress, and the start of the verbatim part."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader
from tests.browser.test_tools import with_tools
from tests.stack import Stack
from tests.upstream_steps import Rule

pytestmark = pytest.mark.browser
LONG = "word " * 400


@pytest.fixture(scope="module")
def compressing(running_stack: Stack) -> Iterator[Stack]:
    """The stack with a compression worker."""
    running_stack.start("compression")
    yield running_stack
    process = running_stack.processes.pop("compression")
    process.terminate()
    process.wait(30)


def test_a_chat_is_compressed_by_hand_and_shows_where_the_verbatim_part_begins(
    compressing: Stack, reader: Reader, stack: Stack
) -> None:
    stack.upstream.reply({"text": LONG}, times=1)
    reader.send("Tell me all of it")
    reader.expect_answer(LONG.strip())
    reader.page.locator("#session-menu").click()
    expect(reader.page.get_by_role("menuitem", name="Compress now")).to_be_disabled()
    reader.page.keyboard.press("Escape")
    stack.upstream.reply({"text": "Two bulges."}, times=1)
    reader.send("And briefly?")
    reader.expect_answer("Two bulges.", index=1)
    stack.upstream.reply(
        {"text": "They spoke of **tides**, at length at first and then briefly, as was wanted."}, stream=False
    )
    second = reader.second_tab()
    reader.choose_action("Compress now")
    for page in (reader.page, second):
        mark = page.locator("aside.summary")
        expect(mark).to_be_visible()
        expect(mark).to_contain_text("tokens saved")
        expect(mark.locator(".markdown")).to_be_hidden()
        mark.get_by_text("are summarised for the model").click()
        expect(mark.locator("strong")).to_have_text("tides")
        # Above the first message that is sent word for word; all messages stay on the page.
        expect(page.locator("aside.summary + article.user .question-text")).to_have_text("And briefly?")
        expect(page.locator("article.user:not(.pending)")).to_have_count(2)
    expect(reader.page.locator("#compression")).to_be_empty()
    reader.choose_action("Compress now")
    expect(reader.page.locator("#notice")).to_contain_text("nothing older")
    reader.send("Good")
    expect(reader.answers).to_have_count(3)
    expect(reader.answers.nth(2)).to_have_attribute("aria-busy", "false")
    assert "tides" in stack.upstream.requests[-1].messages[1]["content"]


def test_a_summary_is_written_again_and_deleted_in_every_window(
    compressing: Stack, reader: Reader, stack: Stack
) -> None:
    stack.upstream.reply({"text": LONG})
    for number, question in enumerate(("Tell me all of it", "And briefly?")):
        reader.send(question)
        reader.expect_answer(LONG.strip(), index=number)
    second = reader.second_tab()
    texts = [
        f"They spoke of **{what}**, at length at first and then briefly, as was wanted."
        for what in ("tides", "floods")
    ]
    for text in texts:
        stack.upstream.reply({"text": text}, times=1, stream=False)
    reader.choose_action("Compress now")
    marks = [page.locator("aside.summary") for page in (reader.page, second)]
    for mark in marks:
        mark.locator("summary").click()
        expect(mark.locator("strong")).to_have_text("tides")
    marks[0].get_by_role("button", name="Write it again").click()
    for mark in marks:
        expect(mark.locator("strong")).to_have_text("floods")
    assert violations_in_both_themes(reader.page) == []
    marks[1].get_by_role("button", name="Delete").click()
    for mark in marks:
        expect(mark).to_have_count(0)
    assert compressing


def test_a_summary_that_cannot_be_used_is_reported_and_changes_nothing(
    compressing: Stack, reader: Reader, stack: Stack
) -> None:
    stack.upstream.reply({"text": ""}, stream=False)
    for number, text in enumerate(("One", "Two")):
        reader.send(text)
        reader.expect_echo(text, index=number)
    reader.choose_action("Compress now")
    expect(reader.page.locator("#compression")).to_have_text("Could not be summarised")
    expect(reader.page.locator("aside.summary")).to_have_count(0)
    reader.page.reload()
    reader.expect_echo("Two", index=1)
    assert compressing


MODELS = """
from chat.models import ModelConfig
for name, window in {"narrow": 8000, "small": 3000}.items():
    ModelConfig.objects.get_or_create(name=name, defaults=ModelConfig.fields_for(name, window))
"""
FACT = re.compile(r"fact-\d+\b")
FILLER = " word" * 350
QUIET = """async () => {
    const session = location.hash.slice(1).split("/")[0];
    for (;;) {
        const answer = await (await fetch(`/api/sessions/${session}/compression/`)).json();
        if (!answer.is_under_way) return;
        await new Promise((done) => setTimeout(done, 50));
    }
}"""


@pytest.fixture
def small_windows(compressing: Stack, stack: Stack) -> Iterator[Stack]:
    """With models `narrow` and `small`, and a summariser that keeps every fact it is shown; no other test sees them."""
    stack.manage("shell", "-v", "0", "-c", MODELS)
    stack.upstream.rules.insert(0, Rule(keep_the_facts, stream=False))
    yield stack
    hidden = (
        "from chat.models import ModelConfig as M; M.objects.filter(name__in=['narrow', 'small']).delete()"
    )
    stack.manage("shell", "-v", "0", "-c", hidden)


def keep_the_facts(body: dict[str, Any]) -> list[dict[str, Any]]:
    texts = [message["content"] for message in body["messages"]]
    marker = next(number for number, text in enumerate(texts) if text.startswith("[Marker"))
    facts = " ".join(dict.fromkeys(FACT.findall("\n".join(texts[:marker]))))
    return [{"text": f"They went through these, one after the other, and left none of them out: {facts}"}]


def tell(reader: Reader, number: int, filler: str) -> None:
    """Send a question with a fact, and wait for all answers and for what they cause."""
    reader.send(f"Remember fact-{number}." + filler)
    expect(reader.questions).to_have_count(number)
    expect(reader.page.locator("article.answer[aria-busy=true]")).to_have_count(0)
    expect(reader.page.locator("article.answer").last).to_contain_text("Noted.")
    reader.page.evaluate(QUIET)


def facts_sent(stack: Stack, model: str) -> set[str]:
    sent = [one for one in stack.upstream.requests if one.body["model"] == model][-1]
    return set(FACT.findall("\n".join(message["content"] or "" for message in sent.messages)))


def test_in_a_small_window_with_tools_every_fact_is_still_sent_and_every_message_shown(
    small_windows: Stack, reader: Reader
) -> None:
    small_windows.upstream.reply({"text": "Noted." + FILLER})
    searching = with_tools(reader, "current_time", "web_search", "research_agent")
    searching.page.reload()
    searching.wait_until_ready()
    searching.pick("alpha", "narrow")
    searching.pick("narrow")
    for number in range(1, 15):
        tell(searching, number, FILLER)
        assert facts_sent(small_windows, "narrow") == {f"fact-{n}" for n in range(1, number + 1)}
    mark = searching.page.locator("aside.summary")
    expect(mark).to_contain_text("The messages above are summarised for the model")
    mark.locator("summary").click()
    expect(mark.locator(".markdown")).to_contain_text("fact-1 fact-2")
    expect(searching.questions).to_have_count(14)


def test_beside_a_large_model_the_mark_names_the_small_one_that_needs_the_summary(
    small_windows: Stack, reader: Reader
) -> None:
    small_windows.upstream.reply({"text": "Noted."})
    reader.page.reload()
    reader.wait_until_ready()
    reader.pick("alpha", "small")
    for number in range(1, 8):
        tell(reader, number, FILLER)
    expect(reader.page.locator("aside.summary")).to_contain_text(
        "The messages above are summarised for small"
    )
    requests = [one for one in small_windows.upstream.requests if one.body["model"] == "alpha"]
    asked = [message for message in requests[-1].messages if message["role"] == "user"]
    assert [FACT.findall(message["content"]) for message in asked] == [[f"fact-{n}"] for n in range(1, 8)]
    assert facts_sent(small_windows, "small") == {f"fact-{n}" for n in range(1, 8)}
    expect(reader.questions).to_have_count(7)
