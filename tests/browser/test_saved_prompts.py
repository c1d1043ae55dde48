"""Saved prompts on the page: kept in a dialog, put into messages by a slash."""

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader
from tests.browser.windows import Windows
from tests.stack import Stack

pytestmark = pytest.mark.browser


def opened(reader: Reader) -> Locator:
    reader.page.locator("#account").click()
    reader.page.get_by_role("menuitem", name="Prompts").click()
    return reader.page.get_by_role("dialog", name="Prompts")


def write(reader: Reader, name: str, text: str) -> None:
    form = reader.page.get_by_role("dialog").last
    form.get_by_label("Name").fill(name)
    form.get_by_label("Text").fill(text)
    form.get_by_role("button", name="Save").click()


def test_a_prompt_is_saved_put_into_a_message_changed_and_deleted(
    windows: Windows, stack: Stack, newcomer: str
) -> None:
    with windows.borrowed(newcomer) as reader:
        dialog = opened(reader)
        expect(dialog).to_contain_text("A “/” at the beginning")
        dialog.get_by_role("button", name="New prompt").click()
        write(reader, "Summary", "Sum it up:\n")
        expect(dialog.get_by_role("button", name="Summary Sum it up:")).to_be_focused()
        dialog.get_by_role("button", name="New prompt").click()
        write(reader, "In the style of a pirate", "/Like a pirate.")
        assert violations_in_both_themes(reader.page) == []
        reader.page.keyboard.press("Escape")

        listed = reader.page.get_by_role("listbox", name="Prompts").get_by_role("option")
        reader.field.press_sequentially("/s")
        expect(listed).to_have_text(["Summary", "In the style of a pirate"])
        reader.field.press("ArrowDown")
        reader.field.press("Tab")
        expect(reader.field).to_have_value("/Like a pirate.")
        reader.field.fill("/")
        listed.filter(has_text="Summary").click()
        expect(reader.field).to_have_value("Sum it up:\n")
        reader.field.press_sequentially("The tides")
        reader.page.locator("[data-send]").click()
        reader.expect_echo("Sum it up:")

        dialog = opened(reader)
        dialog.get_by_role("button", name="Summary Sum it up:").click()
        write(reader, "Summary", "In two sentences:")
        expect(dialog.get_by_role("button", name="Summary In two sentences:")).to_be_visible()
        dialog.get_by_role("button", name="Delete Summary").click()
        reader.page.get_by_role("dialog").last.get_by_role("button", name="Delete", exact=True).click()
        expect(dialog.get_by_role("listitem")).to_have_count(1)


def test_a_slash_without_saved_prompts_is_only_a_slash(reader: Reader) -> None:
    reader.field.press_sequentially("/no such prompt")
    reader.field.press("Enter")
    reader.expect_echo("/no such prompt")
