"""Temporary chats: begun by a switch, in no list, gone when they are left, and kept on request."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader

pytestmark = pytest.mark.browser

QUESTION = "How deep is the trench?"


def switch(page: Page) -> Locator:
    return page.locator("#temporary").get_by_role("button", name="Temporary chat")


def note(page: Page) -> Locator:
    return page.get_by_role("note").filter(has_text="Temporary chat")


def begin(reader: Reader) -> str:
    """Its address."""
    switch(reader.page).click()
    expect(switch(reader.page)).to_have_attribute("aria-pressed", "true")
    reader.send(QUESTION)
    reader.expect_echo(QUESTION)
    expect(note(reader.page)).to_be_visible()
    return reader.page.url


def status_of(reader: Reader, address: str) -> int:
    session = address.split("#")[1]
    return reader.context.request.get(f"{reader.base_url}/api/sessions/{session}/").status


def expect_gone(reader: Reader, address: str) -> None:
    """The page does not wait for the deletion."""
    for _ in range(200):
        if status_of(reader, address) == 404:
            return
        reader.page.wait_for_timeout(50)
    raise AssertionError(f"{address} is still there")


@pytest.mark.core
def test_a_temporary_chat_is_in_no_list_and_survives_a_reload(reader: Reader, caller: Reader) -> None:
    page = reader.page
    expect(page.locator("#temporary").get_by_role("status")).to_be_hidden()
    address = begin(reader)
    expect(page.locator("#title")).to_have_text("Temporary chat")
    caller.page.locator("#sidebar-toggle").click()
    for one in (page, caller.page):
        expect(one.locator("#sessions").get_by_role("listitem")).to_have_count(0)
    page.reload()
    reader.expect_echo(QUESTION)
    expect(note(page)).to_be_visible()
    expect(page.locator("#title")).to_have_text("Temporary chat")
    page.locator("#session-menu").click()
    expect(page.get_by_role("menuitem", name="Share")).to_have_count(0)
    expect(page.get_by_role("menuitem", name="Export")).to_have_count(0)
    page.keyboard.press("Escape")
    reader.field.fill("An unsent draft")
    stored = page.evaluate("JSON.stringify({ ...localStorage })")
    assert "An unsent draft" not in stored
    assert QUESTION not in page.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }])")
    assert status_of(reader, address) == 200


def test_a_temporary_chat_that_is_left_is_gone(reader: Reader) -> None:
    page = reader.page
    address = begin(reader)
    other = reader.second_tab()
    expect(note(other)).to_be_visible()
    page.get_by_role("button", name="New chat", exact=True).click()
    expect(page.locator("#title")).to_have_text("New chat")
    expect(note(page)).to_be_hidden()
    expect(switch(page)).to_have_attribute("aria-pressed", "false")
    expect_gone(reader, address)
    expect(other.locator("#title")).to_have_text("New chat")

    address = begin(reader)
    reader.choose_action("Close and delete")
    expect(page.locator("#title")).to_have_text("New chat")
    expect_gone(reader, address)
    page.locator("#account").click()
    page.get_by_role("menuitem", name="Trash").click()
    expect(page.get_by_text("The trash is empty.")).to_be_visible()


def test_a_kept_chat_is_in_every_list_and_stays(reader: Reader, caller: Reader) -> None:
    page = reader.page
    address = begin(reader)
    caller.page.locator("#sidebar-toggle").click()
    note(page).get_by_role("button", name="Keep this chat").click()
    for one in (page, caller.page):
        expect(one.locator("#sessions li.session")).to_have_count(1)
    expect(note(page)).to_be_hidden()
    page.get_by_role("button", name="New chat", exact=True).click()
    page.locator("#sessions li.session a").click()
    reader.expect_echo(QUESTION)
    assert status_of(reader, address) == 200


def test_temporary_chats_are_accessible_and_fit_a_small_phone(caller: Reader) -> None:
    page = caller.page
    page.set_viewport_size({"width": 360, "height": 640})
    switch(page).click()
    assert violations_in_both_themes(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    switch(page).click()
    begin(caller)
    assert violations_in_both_themes(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
