"""Compression of long chats: "compress now", its progress, and the start of the verbatim part."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.reader import Reader
from tests.stack import Stack

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
    stack.upstream.reply({"text": "They spoke of **tides**."}, stream=False)
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
