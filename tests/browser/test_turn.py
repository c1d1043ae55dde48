"""Actions on answers: copy, feedback, regenerate with another model, timing; editing questions; desktop and phone."""

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.reader import Reader
from tests.stack import Stack

pytestmark = pytest.mark.browser


@pytest.mark.core
def test_an_answer_is_copied_rated_and_tells_what_it_took(reader: Reader, stack: Stack) -> None:
    usage = {
        "prompt_tokens": 1200,
        "completion_tokens": 34,
        "prompt_tokens_details": {"cached_tokens": 1000},
    }
    stack.upstream.reply({"text": "**Two** bulges."}, {"usage": usage})
    reader.context.grant_permissions(["clipboard-read", "clipboard-write"])
    reader.send("Why two tides?")
    reader.expect_answer("Two bulges.")
    answer = reader.answers.first
    answer.get_by_role("button", name="Copy answer").click()
    expect(answer.get_by_role("button", name="Copied")).to_be_visible()
    assert reader.page.evaluate("navigator.clipboard.readText()") == "**Two** bulges."

    answer.get_by_role("button", name="Usage and timing").click()
    card = reader.page.locator(".popover-card")
    expect(card).to_contain_text("1,200 (1,000 cached)")
    expect(card).to_contain_text("34")
    expect(card).to_contain_text("First token after")
    reader.page.keyboard.press("Escape")
    expect(card).to_be_hidden()

    bad = answer.get_by_role("button", name="Bad answer")
    bad.click()
    answer.get_by_label("Your comment").fill("Too short")
    answer.get_by_role("button", name="Save comment").click()
    expect(answer.get_by_label("Your comment")).to_be_hidden()
    reader.page.reload()
    expect(bad).to_have_attribute("aria-pressed", "true")
    with reader.page.expect_response("**/feedback/"):
        bad.click()
    expect(bad).to_have_attribute("aria-pressed", "false")
    reader.page.reload()
    reader.expect_answer("Two bulges.")
    expect(bad).to_have_attribute("aria-pressed", "false")


def test_another_model_is_asked_and_both_answers_are_kept(reader: Reader, stack: Stack) -> None:
    stack.upstream.reply({"text": "from alpha"}, model="alpha")
    stack.upstream.reply({"text": "from beta"}, model="beta")
    reader.pick("alpha")
    reader.send("Who are you?")
    reader.expect_answer("from alpha")
    reader.answers.get_by_role("button", name="Regenerate").press("Enter")
    reader.page.keyboard.press("ArrowDown")
    expect(reader.page.get_by_role("menuitem", name="beta")).to_be_focused()
    reader.page.keyboard.press("Enter")
    reader.expect_answer("from beta")
    expect(reader.answers.locator(".model")).to_have_text("beta")
    expect(reader.answers.locator(".place")).to_have_text("2/2")


def test_a_model_that_fails_for_good_offers_the_others(reader: Reader, stack: Stack) -> None:
    stack.upstream.reply({"status": 401}, model="alpha")
    stack.upstream.reply({"text": "fine"}, model="beta")
    reader.pick("alpha")
    reader.send("Hello")
    problem = reader.answers.locator(".problem")
    expect(problem).to_contain_text("refused its key")
    expect(problem.get_by_role("button", name="Try again")).to_be_hidden()
    problem.get_by_role("button", name="Another model").click()
    reader.page.get_by_role("menuitem", name="beta").click()
    reader.expect_answer("fine")


def test_an_edit_is_sent_by_enter_and_left_by_escape(reader: Reader) -> None:
    reader.send("Hallo")
    reader.expect_echo("Hallo")
    question = reader.questions.first
    question.get_by_role("button", name="Edit").click()
    field = question.get_by_label("Edit your message")
    expect(field).to_be_focused()
    field.press("Escape")
    expect(question.locator(".question-text")).to_have_text("Hallo")
    expect(question.get_by_role("button", name="Edit")).to_be_focused()
    question.get_by_role("button", name="Edit").click()
    field.fill("Hello")
    field.press("Enter")
    reader.expect_echo("Hello")
    expect(reader.questions.locator(".place")).to_have_text("2/2")


def compose(field: Locator) -> None:
    """Press the keys that belong to an input method. The last one of a composition is of the second kind in Safari."""
    for of_method in ({"isComposing": True}, {"keyCode": 229}):
        for key in ({"key": "Enter"}, {"key": "Enter", "ctrlKey": True}, {"key": "Escape"}):
            field.dispatch_event("keydown", {**key, **of_method})


def test_keys_of_an_input_method_neither_send_nor_close_anything(reader: Reader) -> None:
    page, question, answer = reader.page, reader.questions.first, reader.answers.first
    reader.send("こんにちは")
    reader.expect_echo("こんにちは")

    def expect_left_alone(field: Locator) -> None:
        field.fill("さようなら")
        compose(field)
        expect(field).to_be_focused()
        expect(field).to_have_value("さようなら")
        field.press("Escape")
        expect(field).to_be_hidden()

    question.get_by_role("button", name="Edit").click()
    expect_left_alone(question.get_by_label("Edit your message"))
    answer.get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name="Edit answer").click()
    expect_left_alone(page.get_by_label("Edit the answer"))
    answer.get_by_role("button", name="Good answer").click()
    expect_left_alone(page.get_by_label("Your comment"))
    page.locator("#sessions a").press("F2")
    expect_left_alone(page.locator("#sessions input[type=text]"))
    expect(question.locator(".question-text")).to_have_text("こんにちは")
    expect(answer.locator(".body")).to_contain_text("You said: こんにちは")


@pytest.mark.core
def test_thinking_is_counted_and_its_time_is_kept(reader: Reader, stack: Stack) -> None:
    stack.upstream.reply(
        {"reasoning": "The *Moon*"}, {"wait": "more"}, {"reasoning": " pulls."}, {"text": "Done."}
    )
    reader.send("Why?")
    line = reader.answers.locator(".reasoning .line")
    # Each second is shown for one second, so a late check sees a later one.
    expect(line).to_have_text(re.compile(r"^Thinking… \d+ s$"))
    stack.upstream.release("more")
    reader.expect_answer("Done.")
    text = line.text_content()
    assert text
    assert text.startswith("Thought for")
    reader.page.reload()
    expect(line).to_have_text(text)


def test_on_a_phone_one_of_several_answers_is_seen_and_the_others_are_a_touch_away(
    caller: Reader, stack: Stack
) -> None:
    stack.upstream.reply({"text": "from alpha"}, model="alpha")
    stack.upstream.reply({"text": "from beta"}, model="beta")
    caller.pick("alpha", "beta")
    caller.send("Who are you?")
    caller.expect_answer("from beta", index=1)
    beta = caller.answers.nth(1)
    expect(beta).not_to_be_in_viewport(ratio=0.5)
    tabs = caller.page.get_by_role("group", name="Answers")
    tabs.get_by_role("button", name="beta").tap()
    expect(beta).to_be_in_viewport(ratio=0.9)
    expect(tabs.get_by_role("button", name="beta")).to_have_attribute("aria-pressed", "true")
    beta.get_by_role("button", name="Continue with this one").tap()
    expect(beta.get_by_text("The conversation continues here")).to_be_visible()
    assert caller.page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_comment_that_is_being_written_stays_when_the_other_thumb_is_pressed(reader: Reader) -> None:
    reader.send("Tides")
    reader.expect_echo("Tides")
    reader.answers.get_by_role("button", name="Good answer").click()
    comment = reader.page.get_by_label("Your comment")
    comment.fill("Half of it")
    with reader.page.expect_response("**/feedback/"):
        reader.answers.get_by_role("button", name="Bad answer").click()
    # It takes the focus once the thumb is stored.
    expect(comment).to_be_focused()
    expect(comment).to_have_value("Half of it")
