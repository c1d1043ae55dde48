"""Several models answer a question side by side; the user continues with one of the answers."""

import os

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.reader import Reader
from tests.stack import Stack

pytestmark = pytest.mark.browser


@pytest.mark.core
def test_two_models_answer_in_columns_and_one_is_continued_with(reader: Reader, stack: Stack) -> None:
    stack.upstream.reply({"text": "from "}, {"wait": "alpha"}, {"text": "alpha"}, model="alpha", times=1)
    stack.upstream.reply({"text": "from "}, {"wait": "beta"}, {"text": "beta"}, model="beta", times=1)
    reader.pick("alpha", "beta")
    reader.send("Who are you?")
    reader.expect_partial_answer("from", index=0)
    reader.expect_partial_answer("from", index=1)
    stack.upstream.release("beta")
    reader.expect_answer("from beta", index=1)
    reader.expect_partial_answer("from", index=0)
    reader.page.reload()
    stack.upstream.release("alpha")
    reader.expect_answer("from alpha", index=0)
    reader.expect_answer("from beta", index=1)

    beta = reader.answers.nth(1)
    beta.get_by_role("button", name="Continue with this one").click()
    expect(beta.get_by_text("The conversation continues here")).to_be_visible()
    reader.pick("beta")
    reader.send("Go on")
    reader.expect_echo("Go on", index=2)
    seen = [message["content"] for message in stack.upstream.requests[-1].messages]
    assert "from beta" in seen
    assert "from alpha" not in seen


def test_one_column_is_stopped_and_the_other_goes_on(reader: Reader, stack: Stack) -> None:
    stack.upstream.reply({"text": "slow"}, {"hang": True}, model="alpha")
    stack.upstream.reply({"text": "steady "}, {"wait": "beta"}, {"text": "answer"}, model="beta")
    reader.pick("alpha", "beta")
    reader.send("Race")
    reader.expect_partial_answer("slow", index=0)
    reader.expect_partial_answer("steady", index=1)
    reader.answers.nth(0).get_by_role("button", name="Stop").click()
    reader.expect_answer("slow", index=0)
    stack.upstream.release("beta")
    reader.expect_answer("steady answer", index=1)


def test_a_failing_model_leaves_the_other_alone(reader: Reader, stack: Stack) -> None:
    stack.upstream.reply({"status": 400}, model="alpha")
    stack.upstream.reply({"text": "fine"}, model="beta")
    reader.pick("alpha", "beta")
    reader.send("Hello")
    expect(reader.answers.nth(0).locator(".problem")).to_be_visible()
    reader.expect_answer("fine", index=1)


def columns(reader: Reader, turn: int) -> Locator:
    return reader.page.locator(".columns").nth(turn)


def expect_column(reader: Reader, turn: int, column: int, text: str) -> Locator:
    """Wait until this column shows the complete answer `text`."""
    answer = columns(reader, turn).locator("article.answer").nth(column)
    expect(answer).to_have_attribute("aria-busy", "false")
    expect(answer.locator(".body")).to_have_text(text)
    return answer


def try_again(answer: Locator) -> None:
    answer.get_by_role("button", name="Regenerate").click()
    answer.page.get_by_role("menuitem", name="Try again").click()


def shoot(reader: Reader, name: str) -> None:
    """Where SHOTS names a folder."""
    if folder := os.environ.get("SHOTS"):
        reader.page.screenshot(path=f"{folder}/{name}.png")


def compare(reader: Reader, stack: Stack, *models: str, text: str = "Who are you?") -> None:
    """Ask these models; each answers `from` and its name."""
    for model in models:
        stack.upstream.reply({"text": f"from {model}"}, model=model, times=1)
    reader.pick(*models)
    reader.send(text)


def test_a_retry_stays_in_its_column(reader: Reader, stack: Stack) -> None:
    compare(reader, stack, "alpha", "beta", "gamma")
    gamma = expect_column(reader, 0, 2, "from gamma")
    stack.upstream.reply({"text": "gamma once more"}, model="gamma", times=1)
    try_again(gamma)
    gamma = expect_column(reader, 0, 2, "gamma once more")
    expect(gamma.locator(".siblings .place")).to_have_text("2/2")
    expect_column(reader, 0, 0, "from alpha")
    beta = expect_column(reader, 0, 1, "from beta")
    shoot(reader, "after_retry")

    # The answer that the conversation goes on from is replaced in its place, too.
    beta.get_by_role("button", name="Continue with this one").click()
    expect(beta.get_by_text("The conversation continues here")).to_be_visible()
    stack.upstream.reply({"text": "beta once more"}, model="beta", times=1)
    try_again(beta)
    for _ in range(2):
        beta = expect_column(reader, 0, 1, "beta once more")
        expect(beta.get_by_text("The conversation continues here")).to_be_visible()
        expect_column(reader, 0, 0, "from alpha")
        expect_column(reader, 0, 2, "gamma once more")
        expect(reader.answers).to_have_count(3)
        reader.page.reload()


def test_earlier_turns_keep_their_columns(reader: Reader, stack: Stack) -> None:
    compare(reader, stack, "alpha", "beta", "gamma")
    expect_column(reader, 0, 0, "from alpha")
    expect_column(reader, 0, 2, "from gamma")
    beta = expect_column(reader, 0, 1, "from beta")
    beta.get_by_role("button", name="Continue with this one").click()
    expect(beta.get_by_text("The conversation continues here")).to_be_visible()
    compare(reader, stack, "alpha", "beta", text="Go on")
    for _ in range(2):
        for column, model in enumerate(("alpha", "beta", "gamma")):
            expect_column(reader, 0, column, f"from {model}")
        expect_column(reader, 1, 0, "from alpha")
        expect_column(reader, 1, 1, "from beta")
        shoot(reader, "after_next_question")
        reader.page.reload()
    for request in stack.upstream.requests[-2:]:
        contents = [message["content"] for message in request.messages if message["role"] == "assistant"]
        assert contents == ["from beta"], "the chosen column alone is history"


def test_a_retry_in_an_earlier_turn_leaves_what_follows(reader: Reader, stack: Stack) -> None:
    compare(reader, stack, "alpha", "beta")
    expect_column(reader, 0, 0, "from alpha")
    beta = expect_column(reader, 0, 1, "from beta")
    reader.send("Go on")
    expect(columns(reader, 1).locator('article.answer[aria-busy="false"]')).to_have_count(2)
    stack.upstream.reply({"text": "beta "}, {"wait": "beta"}, {"text": "once more"}, model="beta", times=1)
    try_again(beta)
    expect(columns(reader, 0).locator("article.answer").nth(1).locator(".body")).to_have_text("beta")
    expect(columns(reader, 1).locator("article.answer")).to_have_count(2)
    stack.upstream.release("beta")
    beta = expect_column(reader, 0, 1, "beta once more")
    beta.get_by_role("button", name="Previous version").click()
    beta = expect_column(reader, 0, 1, "from beta")
    expect(beta.locator(".siblings .place")).to_have_text("1/2")
    expect(columns(reader, 1).locator("article.answer")).to_have_count(2)
    beta.get_by_role("button", name="Next version").click()
    expect_column(reader, 0, 1, "beta once more")


def test_columns_on_a_phone(caller: Reader, stack: Stack) -> None:
    stack.upstream.reply({"text": "from alpha"}, model="alpha", times=1)
    stack.upstream.reply({"status": 400}, model="beta", times=1)
    caller.pick("alpha", "beta")
    caller.send("Who are you?")
    expect_column(caller, 0, 0, "from alpha")
    tabs = caller.page.locator(".column-tabs").get_by_role("button")
    tabs.get_by_text("beta").click()
    expect(tabs.nth(1)).to_have_attribute("aria-pressed", "true")
    stack.upstream.reply({"text": "from beta"}, model="beta", times=1)
    try_again(columns(caller, 0).locator("article.answer").nth(1))
    expect_column(caller, 0, 1, "from beta")
    expect(tabs.nth(1)).to_have_attribute("aria-pressed", "true")
    shoot(caller, "narrow_after_retry")
    caller.pick("alpha")
    caller.send("Go on")
    caller.expect_echo("Go on", index=2)
    expect(tabs).to_have_count(2)
    shoot(caller, "narrow_after_next_question")


def test_on_a_phone_each_turn_opens_at_the_answer_the_conversation_goes_on_from(
    caller: Reader, stack: Stack
) -> None:
    compare(caller, stack, "alpha", "beta")
    expect_column(caller, 0, 0, "from alpha")
    beta = expect_column(caller, 0, 1, "from beta")
    tabs = caller.page.locator(".column-tabs").first.get_by_role("button")
    tabs.nth(1).click()
    expect(tabs.nth(1)).to_have_attribute("aria-pressed", "true")
    beta.get_by_role("button", name="Continue with this one").click()
    expect(beta.get_by_text("The conversation continues here")).to_be_visible()
    caller.page.reload()
    expect(beta).to_be_in_viewport(ratio=0.9)
    expect(tabs.nth(1)).to_have_attribute("aria-pressed", "true")


def test_on_a_phone_a_tab_leads_to_the_newest_answer_of_its_column(caller: Reader, stack: Stack) -> None:
    compare(caller, stack, "alpha", "beta")
    expect_column(caller, 0, 0, "from alpha")
    beta = expect_column(caller, 0, 1, "from beta")
    tabs = caller.page.locator(".column-tabs").get_by_role("button")
    tabs.nth(1).click()
    expect(tabs.nth(1)).to_have_attribute("aria-pressed", "true")
    stack.upstream.reply({"text": "beta once more"}, model="beta", times=1)
    try_again(beta)
    beta = expect_column(caller, 0, 1, "beta once more")
    for number in range(2):
        tabs.nth(number).click()
        expect(tabs.nth(number)).to_have_attribute("aria-pressed", "true")
    expect(beta).to_be_in_viewport(ratio=0.9)
