"""A tool call that asks its user: the form is filled in with the keyboard through a reload, and the answer is shown."""

from collections.abc import Sequence
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader
from tests.browser.test_texts_fit import STICKING_OUT
from tests.browser.test_tools import with_tools
from tests.stack import Stack
from tests.tool_fixtures import tool_responses

pytestmark = pytest.mark.browser

QUESTIONS: list[dict[str, Any]] = [
    {"name": "city", "question": "Which city?", "type": "choice", "options": ["Berlin", "Paris"]},
    {"name": "nights", "question": "How many nights?", "type": "number", "default": 2},
    {"name": "extras", "question": "What else?", "type": "choices", "options": ["Breakfast", "Bicycles"]},
    {"name": "wishes", "question": "Anything else we should know", "type": "text", "required": False},
]
OTHERS: list[dict[str, Any]] = [
    {
        "name": "month",
        "question": "In which month?",
        "type": "choice",
        "options": ["January", "March", "May", "July", "August", "October", "December"],
        "default": "May",
    },
    {"name": "train", "question": "By train?", "type": "yes_no"},
    {"name": "extras", "question": "What else?", "type": "choices", "options": ["Breakfast", "Bicycles"]},
    {"name": "budget", "question": "Budget", "type": "number", "required": False},
]


def card(reader: Reader) -> Locator:
    return reader.page.get_by_role("region", name="The model asks you")


def ask(reader: Reader, stack: Stack, questions: Sequence[dict[str, Any]] = QUESTIONS) -> None:
    with_tools(reader, "ask_user")
    arguments = {"message": "I can book once I know this.", "questions": list(questions)}
    stack.upstream.reply(
        {"text": "A moment. "}, {"call": {"name": "ask_user", "arguments": arguments}}, after_tools=0
    )
    stack.upstream.reply({"text": "It is booked."}, after_tools=1)
    reader.send("Book a trip for us")
    expect(card(reader)).to_be_visible()


@pytest.mark.core
def test_questions_wait_through_a_reload_and_are_answered_with_the_keyboard(
    reader: Reader, stack: Stack
) -> None:
    ask(reader, stack)
    expect(reader.answers.locator(".status")).to_have_text("waiting for your answer")
    reader.page.reload()
    asked = card(reader)
    expect(asked).to_contain_text("I can book once I know this.")
    assert violations_in_both_themes(reader.page) == []
    assert reader.page.evaluate(STICKING_OUT) == []
    nights = asked.get_by_role("spinbutton", name="How many nights?")
    expect(nights).to_have_value("2")
    press = reader.page.keyboard.press
    asked.get_by_role("group", name="Which city?").get_by_role("radio", name="Berlin").focus()
    for key in ("ArrowDown", "Tab", "ArrowUp", "Tab", "Tab"):
        press(key)
    press("Enter")  # of a box: sends the form, which is not complete
    expect(asked.get_by_role("checkbox", name="Breakfast")).to_be_focused()
    expect(asked.get_by_role("button", name="Answer", exact=True)).to_be_enabled()
    asked.get_by_role("checkbox", name="Bicycles").press("Space")
    press("Tab")
    reader.page.keyboard.type("A room\nwith a view")
    asked.get_by_role("button", name="Answer", exact=True).press("Enter")
    reader.expect_answer("It is booked.")
    expect(card(reader)).to_have_count(0)
    told = tool_responses(stack.upstream.requests[-1])
    assert told == [
        "Which city? Paris\nHow many nights? 3\nWhat else? Bicycles\nAnything else we should know: A room\nwith a view"
    ]
    reader.page.reload()
    steps = reader.answers.locator(".steps > summary")
    expect(steps).to_contain_text("Asked you")
    steps.click()
    expect(reader.answers.locator(".tool .output")).to_have_text(told[0])


@pytest.mark.full
def test_what_the_server_refuses_is_said_at_its_field_and_a_question_can_be_declined(
    caller: Reader, stack: Stack
) -> None:
    ask(caller, stack)
    asked = card(caller)
    assert violations_in_both_themes(caller.page) == []
    assert caller.page.evaluate(STICKING_OUT) == []
    # As a browser that checks nothing.
    asked.locator("form").evaluate("form => { form.noValidate = true; }")
    asked.get_by_role("button", name="Answer", exact=True).click()
    expect(asked.get_by_role("radio", name="Berlin")).to_be_focused()
    expect(asked.get_by_role("alert").filter(has_text="This has to be answered.")).to_be_visible()
    assert violations_in_both_themes(caller.page) == []
    asked.get_by_label("Note for the model").fill("Guess instead.")
    asked.get_by_role("button", name="Do not answer").click()
    caller.expect_answer("It is booked.")
    [response] = tool_responses(stack.upstream.requests[-1])
    assert response == "The user declined to answer. They say: Guess instead."
    caller.answers.locator(".steps > summary").click()
    expect(caller.answers.locator(".tool .state")).to_contain_text("not answered")


@pytest.mark.full
def test_options_in_a_list_and_yes_or_no_and_what_is_missing(reader: Reader, stack: Stack) -> None:
    ask(reader, stack, OTHERS)
    asked = card(reader)
    month = asked.get_by_role("combobox", name="In which month?")
    expect(month).to_have_value("May")
    assert violations_in_both_themes(reader.page) == []
    month.select_option("August")
    asked.get_by_role("group", name="By train?").get_by_role("radio", name="No").check()
    send = asked.get_by_role("button", name="Answer", exact=True)
    send.click()
    box = asked.get_by_role("checkbox", name="Breakfast")
    expect(box).to_be_focused()
    assert box.evaluate("box => box.validationMessage") == "Choose at least 1."
    box.check()
    send.click()
    reader.expect_answer("It is booked.")
    assert tool_responses(stack.upstream.requests[-1]) == [
        "In which month? August\nBy train? no\nWhat else? Breakfast\nBudget: (not answered)"
    ]
