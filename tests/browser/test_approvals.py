"""A tool call that asks its user: allowed, refused with a note, edited, for the whole chat; two tabs; reload; phone."""

import re
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from playwright.sync_api import Locator, expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader
from tests.browser.test_texts_fit import STICKING_OUT
from tests.browser.test_tools import with_tools
from tests.stack import Stack
from tests.tool_fixtures import tool_responses

pytestmark = pytest.mark.browser

ASK = "INSERT INTO chat_toolpolicy (name, approval) VALUES ('current_time', 'ask')"
CLOCK = {"call": {"name": "current_time", "arguments": {"timezone": "Asia/Tokyo"}}}


@pytest.fixture(autouse=True)
def asking(stack: Stack) -> Iterator[None]:
    """An admin has made looking at the clock a matter of approval."""
    with psycopg.connect(stack.environment["DATABASE_URL"], autocommit=True) as connection:
        connection.execute(ASK)
        yield
        connection.execute("DELETE FROM chat_toolpolicy")


@pytest.fixture
def helped(reader: Reader) -> Reader:
    return with_tools(reader, "current_time")


def card(reader: Reader) -> Locator:
    return reader.page.get_by_role("region", name="Date and time wants to run")


def ask(reader: Reader, stack: Stack, call: dict[str, Any] = CLOCK) -> None:
    stack.upstream.reply({"text": "A moment. "}, call, after_tools=0)
    stack.upstream.reply({"text": "It is late there."}, after_tools=1)
    reader.send("What time is it in Tokyo?")
    expect(card(reader)).to_be_visible()


@pytest.mark.core
def test_a_call_waits_through_a_reload_and_runs_when_it_is_allowed(helped: Reader, stack: Stack) -> None:
    ask(helped, stack)
    expect(helped.answers.locator(".status")).to_have_text("waiting for your approval")
    expect(card(helped)).to_contain_text("Asia/Tokyo")
    helped.page.reload()
    expect(card(helped)).to_contain_text("Asia/Tokyo")
    assert violations_in_both_themes(helped.page) == []
    card(helped).get_by_role("button", name="Allow", exact=True).click()
    helped.expect_answer("It is late there.")
    expect(card(helped)).to_have_count(0)
    expect(helped.answers.locator(".steps > summary")).to_contain_text("Looked at the clock")


def test_a_refusal_with_a_note_reaches_the_model_and_shows_as_refused(helped: Reader, stack: Stack) -> None:
    ask(helped, stack)
    card(helped).get_by_label("Note for the model").fill("Guess instead.")
    card(helped).get_by_role("button", name="Refuse").click()
    helped.expect_answer("It is late there.")
    [response] = tool_responses(stack.upstream.requests[-1])
    assert "refused" in response
    assert "Guess instead." in response
    steps = helped.answers.locator(".steps > summary")
    expect(steps).to_contain_text("Looking at the clock · refused")
    steps.click()
    expect(helped.answers.locator(".tool .state")).to_contain_text("refused")


def test_arguments_are_edited_and_what_the_tool_does_not_take_is_said(helped: Reader, stack: Stack) -> None:
    ask(helped, stack)
    asked = card(helped)
    asked.get_by_role("button", name="Edit").click()
    field = asked.get_by_role("textbox", name="Arguments")
    allow = asked.get_by_role("button", name="Allow", exact=True)
    for text, problem in (
        ("{", "This is not a JSON object."),
        ('{"timezone": 3}', "is not of type 'string'"),
    ):
        field.fill(text)
        allow.click()
        expect(asked.get_by_role("alert")).to_contain_text(problem)
    field.fill('{"timezone": "Europe/Berlin"}')
    allow.click()
    helped.expect_answer("It is late there.")
    assert "Europe/Berlin" in tool_responses(stack.upstream.requests[-1])[0]
    for reloads in (False, True):
        if reloads:
            helped.page.reload()
        helped.answers.locator(".steps > summary").click()
        call = helped.answers.locator(".tool")
        expect(call.locator(".state")).to_contain_text("edited")
        expect(call.locator(".hint").first).to_have_text("Europe/Berlin")
        call.get_by_text("Arguments before the edit").click()
        expect(call.get_by_label("Arguments before the edit")).to_contain_text("Asia/Tokyo")
        assert violations_in_both_themes(helped.page) == []


def test_a_long_integer_is_shown_and_sent_as_the_model_wrote_it(helped: Reader, stack: Stack) -> None:
    """JavaScript rounds integers above 2^53."""
    asked_with = {"timezone": "Asia/Tokyo", "port": 12345678901234567890}
    ask(helped, stack, {"call": {"name": "current_time", "arguments": asked_with}})
    expect(card(helped)).to_contain_text("12345678901234567890")
    card(helped).get_by_role("button", name="Edit").click()
    field = card(helped).get_by_role("textbox", name="Arguments")
    field.fill(field.input_value().replace("Tokyo", "Seoul"))
    card(helped).get_by_role("button", name="Allow", exact=True).click()
    helped.expect_answer("It is late there.")
    with psycopg.connect(stack.environment["DATABASE_URL"]) as connection:
        [(arguments,)] = connection.execute(
            "SELECT arguments FROM chat_toolcall ORDER BY created_at DESC LIMIT 1"
        ).fetchall()
    assert arguments == {"timezone": "Asia/Seoul", "port": 12345678901234567890}


def test_a_card_says_what_the_tool_does_and_shows_arguments_as_a_table(helped: Reader, stack: Stack) -> None:
    deep = {"zones": ["Asia/Tokyo", "Asia/Seoul"], "style": {"short": True, "note": "in two\nlines"}}
    ask(helped, stack, {"call": {"name": "current_time", "arguments": {"timezone": "Asia/Tokyo", **deep}}})
    for _ in range(2):
        expect(card(helped).locator(".purpose")).to_have_text("Tells the current date and time.")
        expect(card(helped).get_by_role("row", name="timezone Asia/Tokyo")).to_be_visible()
        expect(card(helped).get_by_role("row", name="short true").last).to_be_visible()
        expect(card(helped).get_by_role("listitem")).to_have_text(deep["zones"])
        assert violations_in_both_themes(helped.page) == []
        helped.page.reload()
    expect(card(helped).locator("pre")).to_be_hidden()
    card(helped).get_by_role("button", name="As JSON").click()
    expect(card(helped).locator("pre")).to_contain_text('"short": true')
    expect(card(helped).get_by_role("table").first).to_be_hidden()
    card(helped).get_by_role("button", name="As JSON").click()
    expect(card(helped).get_by_role("table").first).to_be_visible()


def test_allowed_for_the_chat_later_calls_do_not_ask(helped: Reader, stack: Stack) -> None:
    ask(helped, stack)
    card(helped).get_by_role("button", name="Allow in this chat").click()
    helped.expect_answer("It is late there.")
    helped.send("And now?")
    helped.expect_answer("It is late there.", index=1)


def test_a_second_tab_shows_the_card_and_is_told_when_the_first_has_decided(
    helped: Reader, stack: Stack
) -> None:
    ask(helped, stack)
    with helped.context.new_page() as page:
        page.goto(helped.page.url)
        other = page.get_by_role("region", name="Date and time wants to run")
        expect(other).to_be_visible()
        card(helped).get_by_role("button", name="Allow", exact=True).click()
        expect(other).to_have_count(0)
        expect(page.locator("article.answer .body")).to_contain_text("It is late there.")


def test_a_chat_that_waits_says_so_in_the_list_and_title_of_every_tab(helped: Reader, stack: Stack) -> None:
    ask(helped, stack)
    with helped.context.new_page() as page:
        page.goto(f"{stack.base_url}/")
        badge = page.locator("#sessions .mark.waiting")
        number = page.locator("#waiting")
        expect(badge).to_have_text("waits for you")
        expect(number).to_have_text("1 chat waits for you")
        expect(page).to_have_title("(1 waits) New chat · Turnwire")
        assert violations_in_both_themes(page) == []
        expect(helped.page).to_have_title(re.compile(r"^\(1 waits\) "))
        number.get_by_role("link").click()
        expect(page).to_have_url(helped.page.url)
        page.locator("#new-chat").click()
        card(helped).get_by_role("button", name="Allow", exact=True).click()
        expect(badge).to_have_count(0)
        expect(number).to_be_empty()
        expect(page).to_have_title("New chat · Turnwire")


def test_calls_that_wait_side_by_side_are_allowed_with_one_click(helped: Reader, stack: Stack) -> None:
    places = ("Asia/Tokyo", "Europe/Rome", "Africa/Cairo")
    calls = [{"call": {"name": "current_time", "arguments": {"timezone": place}}} for place in places]
    stack.upstream.reply(*calls, after_tools=0)
    stack.upstream.reply({"text": "It is late in all of them."}, after_tools=3)
    helped.send("What time is it in Tokyo, Rome and Cairo?")
    expect(card(helped)).to_have_count(3)
    card(helped).first.get_by_role("button", name="Refuse").click()
    expect(card(helped).first).to_contain_text("Refused")
    assert violations_in_both_themes(helped.page) == []
    helped.page.get_by_role("button", name="Allow all").click()
    helped.expect_answer("It is late in all of them.")
    tokyo, *others = tool_responses(stack.upstream.requests[-1])
    assert "refused" in tokyo
    assert [place in response for place, response in zip(places[1:], others, strict=True)] == [True, True]


def test_the_card_says_what_has_changed_since_the_tool_was_allowed(helped: Reader, stack: Stack) -> None:
    ask(helped, stack)
    card(helped).get_by_role("button", name="Allow in this chat").click()
    helped.expect_answer("It is late there.")
    with psycopg.connect(stack.environment["DATABASE_URL"], autocommit=True) as connection:
        connection.execute("""UPDATE chat_approval SET tool_identity = '["another server", "a", "d"]'""")
    helped.send("And now?")
    expect(card(helped)).to_contain_text("You allowed a tool of another server with this name.")
    assert violations_in_both_themes(helped.page) == []
    helped.stop.click()


def test_an_answer_that_waits_can_be_stopped(helped: Reader, stack: Stack) -> None:
    ask(helped, stack)
    helped.stop.click()
    expect(helped.answers.first).to_have_attribute("aria-busy", "false")
    expect(card(helped)).to_have_count(0)


def test_the_card_fits_on_a_phone(caller: Reader, stack: Stack) -> None:
    with_tools(caller, "current_time")
    ask(caller, stack)
    card(caller).get_by_role("button", name="Edit").click()
    assert caller.page.evaluate(STICKING_OUT) == []
    assert violations_in_both_themes(caller.page) == []
    caller.stop.click()
