"""A chat is forked from an answer, and the new one opens."""

import pytest
from playwright.sync_api import expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader
from tests.stack import Stack

pytestmark = pytest.mark.browser


def test_fork_from_here_opens_a_chat_with_the_branch_up_to_there(reader: Reader) -> None:
    for index, text in enumerate(("first", "second")):
        reader.send(text)
        reader.expect_echo(text, index=index)
    original = reader.page.url
    reader.answers.first.hover()
    reader.answers.first.get_by_role("button", name="More actions").click()
    assert violations_in_both_themes(reader.page) == []
    reader.page.get_by_role("menuitem", name="Fork from here").click()
    expect(reader.answers).to_have_count(1)
    assert reader.page.url != original
    reader.expect_echo("first")
    reader.send("other")
    reader.expect_echo("other", index=1)
    reader.page.goto(original)
    reader.expect_echo("second", index=1)
    expect(reader.page.locator("#sessions li")).to_have_count(2)


def test_a_fork_below_an_answer_in_progress_says_why_not(reader: Reader, stack: Stack) -> None:
    """The page offers none: another tab still shows the answer as it was before it went on."""
    reader.send("first")
    reader.expect_echo("first")
    reader.page.route(
        "**/fork/",
        lambda route: route.fulfill(
            status=409, json={"code": "answer_in_progress", "message": "An answer is being written."}
        ),
    )
    reader.answers.first.get_by_role("button", name="More actions").click()
    reader.page.get_by_role("menuitem", name="Fork from here").click()
    expect(reader.page.locator("#notice")).to_contain_text("still being written")


def test_an_answer_in_progress_offers_no_fork(reader: Reader, stack: Stack) -> None:
    stack.upstream.reply({"text": "Once upon"}, {"hang": True})
    reader.send("A long story")
    reader.expect_partial_answer("Once upon")
    expect(reader.answers.get_by_role("button", name="More actions")).to_be_hidden()
    reader.stop.click()
