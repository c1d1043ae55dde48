"""What a user has chosen for all chats, in the settings: instructions for the models, and which of them answer."""

import psycopg
import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader
from tests.browser.windows import Windows
from tests.stack import Stack

pytestmark = [pytest.mark.browser, pytest.mark.full]

# As if the model had been taken away since.
GONE = """
    INSERT INTO chat_preferences (user_id, instructions, uses_instructions, models)
    SELECT id, '', TRUE, '{gone}' FROM auth_user WHERE username = %s
"""
METRIC = "Call me Al, in metric units."


def opened(page: Page) -> Locator:
    page.locator("#account").click()
    page.get_by_role("menuitem", name="Settings").click()
    return page.get_by_role("dialog", name="Settings")


def chosen_elsewhere(elsewhere: Locator, box: str, *, checked: bool) -> None:
    with elsewhere.page.expect_response("**/api/preferences/"):
        elsewhere.get_by_role("checkbox", name=box).set_checked(checked)


def write_instructions(page: Page, elsewhere: Locator) -> None:
    settings = opened(page)
    settings.get_by_label("Instructions for all chats").fill(METRIC)
    # What is not saved outlasts the dialog.
    page.keyboard.press("Escape")
    expect(opened(page).get_by_label("Instructions for all chats")).to_have_value(METRIC)
    settings.get_by_role("button", name="Save").click()
    expect(settings.get_by_role("button", name="Save")).to_be_hidden()
    expect(settings).to_contain_text("8 tokens")
    expect(settings).to_contain_text("No longer offered: gone. alpha answers instead.")
    assert violations_in_both_themes(page) == []
    expect(elsewhere.get_by_label("Instructions for all chats")).to_have_value(METRIC)
    page.keyboard.press("Escape")


def expect_switched_off(page: Page) -> None:
    settings = opened(page)
    expect(settings.get_by_label("Send them to the models")).not_to_be_checked()
    expect(settings.get_by_label("Instructions for all chats")).to_have_value(METRIC)
    page.keyboard.press("Escape")


def test_what_is_chosen_once_holds_in_every_chat_and_tab(
    windows: Windows, stack: Stack, newcomer: str
) -> None:
    with psycopg.connect(stack.environment["DATABASE_URL"]) as connection:
        connection.execute(GONE, [newcomer])
    with windows.borrowed(newcomer) as reader:
        elsewhere = opened(reader.second_tab())
        write_instructions(reader.page, elsewhere)
        reader.send("One")
        reader.expect_echo("One")
        assert METRIC in str(stack.upstream.requests[-1].messages[0])

        chosen_elsewhere(elsewhere, "Send them to the models", checked=False)
        expect_switched_off(reader.page)
        reader.send("Two")
        reader.expect_echo("Two", index=1)
        assert METRIC not in str(stack.upstream.requests[-1].messages)

        chosen_elsewhere(elsewhere, "beta", checked=True)
        reader.page.get_by_role("button", name="New chat").click()
        reader.expect_picked("beta")
        reader.pick("gamma")
        reader.send("Three")
        reader.expect_echo("Three")
        assert stack.upstream.requests[-1].body["model"] == "gamma"
        reader.page.get_by_role("button", name="New chat").click()
        reader.expect_picked("beta")
        reader.page.reload()
        reader.expect_picked("beta")


def test_instructions_are_written_only_where_the_stored_ones_are_shown(reader: Reader) -> None:
    page = reader.page
    waiting: list[Route] = []
    page.route("**/api/preferences/", lambda route: waiting.append(route))  # noqa: PLW0108  Playwright marks the function
    field = opened(page).get_by_label("Instructions for all chats")
    expect(field).not_to_be_editable()
    page.unroute("**/api/preferences/")  # continues what waits
    expect(field).to_be_editable()
