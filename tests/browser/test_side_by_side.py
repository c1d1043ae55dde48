"""Two models answer a question; the user continues with one of the answers."""

import pytest
from playwright.sync_api import expect

from tests.browser.reader import Reader
from tests.stack import Stack

pytestmark = pytest.mark.browser


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
    reader.expect_echo("Go on", index=1)
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
