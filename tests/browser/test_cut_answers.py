"""An answer that the model did not finish says so on the page, and goes on in the same message at a click."""

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader
from tests.stack import Stack

pytestmark = pytest.mark.browser

CUT = ({"finish": "length"}, {"usage": {"prompt_tokens": 9, "completion_tokens": 4096}})


def screenshot(reader: Reader, name: str) -> None:
    """Kept where SCREENSHOTS names a folder."""
    if folder := os.environ.get("SCREENSHOTS"):
        reader.page.screenshot(path=Path(folder) / f"{name}.png")


@pytest.mark.core
def test_a_cut_answer_goes_on_in_the_same_message(reader: Reader, stack: Stack) -> None:
    stack.upstream.reply({"text": "## Tides\n\nThe Moon **pu"}, *CUT, times=1)
    stack.upstream.reply({"text": "lls** "}, {"wait": "the rest"}, {"text": "twice."}, times=1)
    reader.send("Why two tides?")
    answer = reader.answers.first
    expect(answer.locator(".cut p")).to_have_text("Stopped at 4,096 tokens")
    screenshot(reader, "cut")
    reader.page.reload()
    expect(answer.locator(".cut")).to_contain_text("Stopped at 4,096 tokens")

    answer.get_by_role("button", name="Continue").click()
    reader.expect_partial_answer("Tides The Moon pulls ")
    expect(answer.locator(".cut")).to_be_hidden()
    expect(reader.stop).to_be_visible()
    screenshot(reader, "going-on")
    reader.page.reload()
    reader.expect_partial_answer("Tides The Moon pulls ")
    stack.upstream.release("the rest")
    reader.expect_answer("Tides The Moon pulls twice.")
    expect(reader.answers).to_have_count(1)
    expect(reader.questions).to_have_count(1)
    expect(answer.locator(".cut")).to_be_hidden()
    screenshot(reader, "gone-on")
    reader.page.reload()
    reader.expect_answer("Tides The Moon pulls twice.")


def test_another_tab_shows_the_same_message_going_on(reader: Reader, stack: Stack) -> None:
    stack.upstream.reply({"text": "The Moon pu"}, *CUT, times=1)
    stack.upstream.reply({"text": "lls."}, times=1)
    reader.send("Why two tides?")
    go_on = reader.answers.first.get_by_role("button", name="Continue")
    expect(go_on).to_be_visible()
    other = reader.second_tab()
    other.goto(reader.page.url)
    shown = other.locator("article.answer")
    expect(shown.get_by_role("button", name="Continue")).to_be_visible()
    go_on.click()
    expect(shown).to_contain_text("The Moon pulls.")
    expect(shown.locator(".cut")).to_be_hidden()
    reader.expect_answer("The Moon pulls.")


def test_an_answer_cut_by_a_filter_says_so_and_does_not_go_on(reader: Reader, stack: Stack) -> None:
    stack.upstream.reply({"text": "I would"}, {"finish": "content_filter"})
    reader.send("How?")
    cut = reader.answers.first.locator(".cut p")
    expect(cut).to_have_text("Cut by the provider's filter")
    expect(reader.answers.first.get_by_role("button", name="Continue")).to_be_hidden()
    screenshot(reader, "filtered")
    reader.page.reload()
    expect(cut).to_have_text("Cut by the provider's filter")


def test_an_answer_that_was_replied_to_does_not_offer_to_go_on(reader: Reader, stack: Stack) -> None:
    stack.upstream.reply({"text": "The Moon pu"}, *CUT, times=1)
    stack.upstream.reply({"text": "Yes."})
    reader.send("Why two tides?")
    expect(reader.answers.first.get_by_role("button", name="Continue")).to_be_visible()
    reader.send("Really?")
    reader.expect_answer("Yes.", index=1)
    expect(reader.answers.first.locator(".cut p")).to_have_text("Stopped at 4,096 tokens")
    expect(reader.answers.first.get_by_role("button", name="Continue")).to_be_hidden()


def test_a_column_that_was_replied_to_does_not_offer_to_go_on(reader: Reader, stack: Stack) -> None:
    stack.upstream.reply({"text": "Whole."}, model="beta")
    stack.upstream.reply({"text": "The Moon pu"}, *CUT, model="alpha")
    reader.pick("alpha", "beta")
    reader.send("Why two tides?")
    alpha, beta = reader.answers.nth(0), reader.answers.nth(1)
    expect(alpha.get_by_role("button", name="Continue", exact=True)).to_be_visible()
    reader.expect_answer("Whole.", index=1)
    reader.send("Really?")
    reader.expect_answer("Whole.", index=3)
    beta.get_by_role("button", name="Continue with this one").click()
    expect(beta.get_by_text("The conversation continues here")).to_be_visible()
    for _ in range(2):
        expect(reader.answers).to_have_count(2)
        expect(alpha.locator(".cut p")).to_have_text("Stopped at 4,096 tokens")
        expect(alpha.get_by_role("button", name="Continue", exact=True)).to_be_hidden()
        reader.page.reload()


def test_reasoning_that_was_cut_before_the_answer_says_so(reader: Reader, stack: Stack) -> None:
    stack.upstream.reply({"reasoning": "Let me see"}, *CUT)
    reader.send("Why two tides?")
    answer = reader.answers.first
    expect(answer).to_contain_text(
        "The model used all of its output limit to think, before the answer began. Ask for less at once, or raise the limit."
    )
    expect(answer.locator(".cut")).to_be_hidden()
    expect(answer.get_by_role("button", name="Try again")).to_be_visible()
    screenshot(reader, "before-the-answer")
    # As runs ended before there was that error, and as the limits on one run end them.
    ended = "status='completed', error_code='', finish_reason='length', completion_tokens=4096"
    stack.manage("shell", "-v", "0", "-c", f"from chat.models import Run; Run.objects.update({ended})")
    reader.page.reload()
    expect(answer.locator(".cut p")).to_have_text("Stopped at 4,096 tokens, before the answer began")


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("token_limit", "Stopped: one answer may use no more tokens"),
        ("character_limit", "Stopped: one answer may not be longer"),
    ],
)
def test_an_answer_that_reached_a_limit_on_one_run_says_which(
    reader: Reader, stack: Stack, reason: str, words: str
) -> None:
    stack.upstream.reply({"text": "I would"})
    reader.send("How?")
    reader.expect_answer("I would")
    changed = f"from chat.models import Run; Run.objects.update(finish_reason='{reason}')"
    stack.manage("shell", "-v", "0", "-c", changed)
    reader.page.reload()
    expect(reader.answers.first.locator(".cut p")).to_have_text(words)
    expect(reader.answers.first.get_by_role("button", name="Continue")).to_be_hidden()


def test_a_stopped_answer_goes_on_in_the_same_message(reader: Reader, stack: Stack) -> None:
    stack.upstream.reply({"text": "The Moon **pu"}, {"hang": True}, times=1)
    stack.upstream.reply({"text": "lls** "}, {"hang": True}, times=1)
    stack.upstream.reply({"text": "twice."}, times=1)
    reader.send("Why two tides?")
    reader.expect_partial_answer("The Moon pu")
    reader.stop.click()
    answer = reader.answers.first
    expect(answer.locator(".cut p")).to_have_text("This answer was stopped.")
    screenshot(reader, "stopped")
    assert violations_in_both_themes(reader.page) == []
    answer.get_by_role("button", name="Continue").click()
    reader.expect_partial_answer("The Moon pulls ")
    expect(answer.locator(".cut")).to_be_hidden()
    reader.stop.click()
    expect(answer.locator(".cut p")).to_have_text("This answer was stopped.")
    reader.page.reload()
    answer.get_by_role("button", name="Continue").click()
    reader.expect_answer("The Moon pulls twice.")
    expect(answer.locator(".cut")).to_be_hidden()
    expect(reader.questions).to_have_count(1)
    reader.page.reload()
    reader.expect_answer("The Moon pulls twice.")


def test_a_stopped_answer_that_was_replied_to_offers_no_way_on(reader: Reader, stack: Stack) -> None:
    stack.upstream.reply({"text": "The Moon pu"}, {"hang": True}, times=1)
    stack.upstream.reply({"text": "Because."}, times=1)
    reader.send("Why two tides?")
    reader.expect_partial_answer("The Moon pu")
    reader.stop.click()
    go_on = reader.answers.first.get_by_role("button", name="Continue")
    expect(go_on).to_be_visible()
    reader.send("Briefly, please")
    reader.expect_answer("Because.", index=1)
    expect(go_on).to_be_hidden()
    expect(reader.answers.first.locator(".cut")).to_be_hidden()
    reader.page.reload()
    reader.expect_answer("Because.", index=1)
    expect(reader.page.get_by_role("button", name="Continue")).to_have_count(0)


def test_an_answer_that_broke_off_goes_on_or_is_tried_again(reader: Reader, stack: Stack) -> None:
    stack.upstream.reply({"text": "The Moon pu"}, {"eof": "close"}, times=1)
    stack.upstream.reply({"text": "lls."}, times=1)
    reader.send("Why two tides?")
    problem = reader.answers.first.locator(".problem")
    expect(problem.get_by_role("button", name="Try again")).to_be_visible()
    screenshot(reader, "broken-off")
    problem.get_by_role("button", name="Continue").click()
    reader.expect_answer("The Moon pulls.")
    expect(problem).to_be_hidden()
    expect(reader.answers).to_have_count(1)
