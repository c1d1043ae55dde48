"""The keys that work on the whole page, and the dialog that lists all keys."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader

pytestmark = pytest.mark.browser


def test_a_question_mark_outside_of_fields_lists_all_keys(reader: Reader) -> None:
    reader.field.press("?")
    expect(reader.field).to_have_value("?")
    sheet = reader.page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(sheet).to_have_count(0)
    reader.page.locator("#scroller").press("?")
    expect(sheet).to_be_visible()
    for text, keys in [
        ("Find chats and actions", "Ctrl+K"),
        ("Search the list of chats, outside of fields", "/"),
        ("New chat", "Ctrl+Shift+O"),
        ("Show or hide the list of chats", "Ctrl+Shift+S"),
        ("Break the line", "Shift+Enter"),
        ("Stop the answer", "Esc"),
    ]:
        row = sheet.locator("dl > div").filter(has=reader.page.get_by_text(text, exact=True))
        expect(row.locator("dd")).to_have_text(keys)
    assert violations_in_both_themes(reader.page) == []
    reader.page.keyboard.press("Control+K")
    expect(sheet).to_be_visible()
    reader.page.keyboard.press("Escape")
    expect(sheet).to_have_count(0)
    reader.page.locator("#account").click()
    reader.page.get_by_role("menuitem", name="Keyboard shortcuts").click()
    expect(sheet).to_be_visible()


def test_keys_search_begin_a_new_chat_and_fold_the_sidebar(reader: Reader) -> None:
    page = reader.page
    reader.send("Remember the lighthouse")
    reader.expect_echo("Remember the lighthouse", index=0)
    expect(page.locator("#new-chat")).to_have_attribute("aria-keyshortcuts", "Control+Shift+O Meta+Shift+O")
    expect(page.locator("#new-chat")).to_have_attribute("title", "New chat (Ctrl+Shift+O)")
    reader.field.press("/")
    expect(page.locator("#search")).not_to_be_focused()
    page.locator("#scroller").press("/")
    expect(page.locator("#search")).to_be_focused()
    page.keyboard.press("Control+Shift+S")
    expect(page.locator("body")).not_to_have_class(re.compile("with-sidebar"))
    expect(page.locator("#sidebar-toggle")).to_be_focused()
    reader.field.press("Control+Shift+S")
    expect(page.locator("body")).to_have_class(re.compile("with-sidebar"))
    expect(reader.field).to_be_focused()
    reader.field.press("Control+Shift+O")
    expect(page.locator("#welcome")).to_be_visible()
    expect(reader.field).to_be_focused()
