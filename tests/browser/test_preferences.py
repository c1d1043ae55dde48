"""What a user has chosen for all chats, in the settings: instructions for the models."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.windows import Windows
from tests.stack import Stack

pytestmark = [pytest.mark.browser, pytest.mark.full]

METRIC = "Call me Al, in metric units."


def opened(page: Page) -> Locator:
    page.locator("#account").click()
    page.get_by_role("menuitem", name="Settings").click()
    return page.get_by_role("dialog", name="Settings")


def test_instructions_are_written_once_sent_in_every_chat_and_switched_off(
    windows: Windows, stack: Stack, newcomer: str
) -> None:
    with windows.borrowed(newcomer) as reader:
        elsewhere = opened(reader.second_tab())
        settings = opened(reader.page)
        field = settings.get_by_label("Instructions for all chats")
        field.fill(METRIC)
        # What is not saved outlasts the dialog.
        reader.page.keyboard.press("Escape")
        expect(opened(reader.page).get_by_label("Instructions for all chats")).to_have_value(METRIC)
        settings.get_by_role("button", name="Save").click()
        expect(settings.get_by_role("button", name="Save")).to_be_hidden()
        expect(settings).to_contain_text("8 tokens")
        assert violations_in_both_themes(reader.page) == []
        expect(elsewhere.get_by_label("Instructions for all chats")).to_have_value(METRIC)

        reader.page.keyboard.press("Escape")
        reader.send("One")
        reader.expect_echo("One")
        assert METRIC in str(stack.upstream.requests[-1].messages[0])

        with elsewhere.page.expect_response("**/api/preferences/"):
            elsewhere.get_by_label("Send them to the models").uncheck()
        settings = opened(reader.page)
        expect(settings.get_by_label("Send them to the models")).not_to_be_checked()
        expect(settings.get_by_label("Instructions for all chats")).to_have_value(METRIC)
        reader.page.keyboard.press("Escape")
        reader.send("Two")
        reader.expect_echo("Two", index=1)
        assert METRIC not in str(stack.upstream.requests[-1].messages)
