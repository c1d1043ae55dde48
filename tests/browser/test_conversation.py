"""A conversation with one model: streaming, stopping, editing, regenerating."""

import pytest
from playwright.sync_api import expect

from tests.browser.reader import Reader
from tests.stack import Stack

pytestmark = pytest.mark.browser


def test_an_answer_is_watched_while_it_is_written(reader: Reader, stack: Stack) -> None:
    stack.upstream.reply({"reasoning": "Hm."}, {"text": "**Two** "}, {"wait": "go on"}, {"text": "*bulges*."})
    reader.send("Why two tides?\nBriefly.")
    reader.expect_partial_answer("Two")
    expect(reader.answers.locator("strong")).to_have_text("Two")
    expect(reader.page.locator("#announcer")).to_be_empty()
    expect(reader.stop).to_be_visible()
    stack.upstream.release("go on")
    reader.expect_answer("Two bulges.")
    expect(reader.questions.locator(".question-text")).to_have_text(
        "Why two tides?\nBriefly.", use_inner_text=True
    )
    expect(reader.page.locator("#announcer")).to_contain_text("Two bulges.")
    expect(reader.stop).to_be_hidden()


def test_reasoning_is_folded_and_opens(reader: Reader, stack: Stack) -> None:
    stack.upstream.reply({"reasoning": "The *Moon* pulls."}, {"text": "Done."})
    reader.send("Why?")
    reader.expect_answer("Done.")
    thought = reader.answers.locator(".reasoning .markdown")
    expect(thought).to_be_hidden()
    reader.answers.locator(".reasoning > summary").click()
    expect(thought).to_have_text("The Moon pulls.")


def test_a_stopped_answer_keeps_what_was_shown(reader: Reader, stack: Stack) -> None:
    stack.upstream.reply({"text": "Once upon"}, {"hang": True})
    reader.send("A long story")
    reader.expect_partial_answer("Once upon")
    reader.stop.click()
    reader.expect_answer("Once upon")
    expect(reader.answers.locator(".status")).to_have_text("stopped")
    stack.upstream.wait_for(lambda: stack.upstream.requests[0].ended == "disconnected")
    reader.page.reload()
    reader.expect_answer("Once upon")


@pytest.mark.core
def test_the_first_message_is_edited_and_both_branches_stay(reader: Reader) -> None:
    reader.send("Hallo")
    reader.expect_echo("Hallo")
    reader.edit(0, "Hello")
    reader.expect_echo("Hello")
    expect(reader.questions.locator(".place")).to_have_text("2/2")
    reader.questions.get_by_label("Previous version").click()
    reader.expect_echo("Hallo")
    reader.page.reload()
    reader.expect_echo("Hallo")


def test_a_later_message_is_edited_below_the_same_answer(reader: Reader) -> None:
    reader.send("first")
    reader.expect_echo("first")
    reader.send("second")
    reader.expect_echo("second", index=1)
    reader.edit(1, "another second")
    reader.expect_echo("another second", index=1)
    reader.expect_echo("first")


@pytest.mark.core
def test_an_answer_is_written_again_and_both_are_kept(reader: Reader, stack: Stack) -> None:
    stack.upstream.reply({"text": "one"}, times=1)
    stack.upstream.reply({"text": "two"})
    reader.send("Pick a number")
    reader.expect_answer("one")
    reader.answers.get_by_role("button", name="Regenerate").click()
    reader.page.get_by_role("menuitem", name="Try again").click()
    reader.expect_answer("two")
    expect(reader.answers.locator(".place")).to_have_text("2/2")
    reader.answers.get_by_label("Previous version").click()
    reader.expect_answer("one")


@pytest.mark.core
def test_a_broken_answer_says_why_and_is_tried_again(reader: Reader, stack: Stack) -> None:
    stack.upstream.reply({"text": "Half of"}, {"eof": "abort"}, times=1)
    reader.send("Explain")
    reader.expect_answer("Half of")
    expect(reader.answers.locator(".problem")).to_contain_text("broke off in the middle")
    reader.answers.get_by_role("button", name="Try again").click()
    reader.expect_echo("Explain")


def test_a_refused_message_is_not_lost(reader: Reader) -> None:
    text = "x" * 100_001
    reader.send(text)
    expect(reader.page.get_by_role("alert")).to_contain_text("too long")
    expect(reader.field).to_have_value(text)
