"""Chats that are pinned or archived: menus, list, search, archive, and other browsers of the same user."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader
from tests.screenshots import scenes

pytestmark = pytest.mark.browser


@pytest.fixture
def phone(reader: Reader, caller: Reader) -> Reader:
    """The same user in another browser, with the list open."""
    caller.page.locator("#sidebar-toggle").click()
    return caller


def begin(reader: Reader, *questions: str) -> None:
    """A chat of each question, named by it."""
    for question in questions:
        reader.page.get_by_role("button", name="New chat", exact=True).click()
        reader.send(question)
        reader.expect_echo(question)
        name(reader.page, question)


def name(page: Page, title: str) -> None:
    page.locator("#session-menu").click()
    page.get_by_role("menuitem", name="Rename").click()
    page.get_by_role("dialog").get_by_label("Title").fill(title)
    page.get_by_role("dialog").get_by_role("button", name="Rename").click()
    expect(row(page, title)).to_have_count(1)


def row(within: Page | Locator, title: str) -> Locator:
    return within.locator(f"li.session:has(.title:text-is('{title}'))")


def choose(within: Page | Locator, title: str, action: str) -> None:
    chat = row(within, title)
    chat.get_by_role("link").focus()
    chat.get_by_role("button").click()
    chat.page.get_by_role("menuitem", name=action, exact=True).click()


def pinned(page: Page) -> Locator:
    return page.locator("#sessions").get_by_role("list", name="Pinned")


def test_pinned_chats_stand_above_the_others_in_every_browser(reader: Reader, phone: Reader) -> None:
    begin(reader, "About tides", "About bread")
    choose(reader.page, "About tides", "Pin")
    for one in (reader, phone):
        expect(one.page.locator("#sessions h2").first).to_have_text("Pinned")
        expect(row(pinned(one.page), "About tides")).to_have_count(1)
        expect(row(one.page.locator("#sessions"), "About tides")).to_have_count(1)
        expect(row(pinned(one.page), "About bread")).to_have_count(0)
    reader.page.reload()
    expect(row(pinned(reader.page), "About tides")).to_have_count(1)
    choose(reader.page, "About tides", "Unpin")
    for one in (reader, phone):
        expect(pinned(one.page)).to_have_count(0)
        expect(row(one.page.locator("#sessions"), "About tides")).to_have_count(1)


def test_archived_chats_leave_the_list_and_are_found_and_fetched_back(reader: Reader, phone: Reader) -> None:
    page = reader.page
    begin(reader, "About quokkas", "About wombats")
    choose(page, "About quokkas", "Archive")
    for one in (reader, phone):
        expect(row(one.page, "About quokkas")).to_have_count(0)
        expect(row(one.page, "About wombats")).to_have_count(1)
    page.get_by_label("Search chats").fill("quokkas")
    expect(row(page, "About quokkas")).to_contain_text("(Archived)")
    page.get_by_label("Search chats").press("Escape")
    scenes.account(page, "Archived chats")
    archive = page.get_by_role("dialog", name="Archived chats")
    row(archive, "About quokkas").get_by_role("link").click()
    expect(archive).to_have_count(0)
    expect(page.locator("#title")).to_have_text("About quokkas")
    scenes.account(page, "Archived chats")
    choose(archive, "About quokkas", "Move out of the archive")
    expect(row(archive, "About quokkas")).to_have_count(0)
    page.keyboard.press("Escape")
    for one in (reader, phone):
        expect(row(one.page, "About quokkas")).to_have_count(1)


def test_an_open_chat_that_is_archived_is_left_and_undo_brings_both_back(reader: Reader) -> None:
    page = reader.page
    begin(reader, "About lakes")
    chat = page.url
    page.locator("#session-menu").click()
    page.get_by_role("menuitem", name="Archive", exact=True).click()
    expect(row(page, "About lakes")).to_have_count(0)
    expect(page.locator("#title")).to_have_text("New chat")
    notice = page.locator(".undo")
    expect(notice.get_by_role("status")).to_have_text("“About lakes” was archived.")
    notice.get_by_role("button", name="Undo").click()
    expect(row(page, "About lakes")).to_have_count(1)
    expect(page.locator("#title")).to_have_text("About lakes")
    assert page.url == chat
    # Another chat that is archived from the list leaves the open one alone.
    begin(reader, "About ponds")
    choose(page, "About lakes", "Archive")
    expect(row(page, "About lakes")).to_have_count(0)
    expect(page.locator("#title")).to_have_text("About ponds")


def test_the_archive_is_accessible_and_used_by_keyboard(phone: Reader, reader: Reader) -> None:
    begin(reader, "About rivers")
    choose(reader.page, "About rivers", "Archive")
    page = phone.page
    scenes.account(page, "Archived chats")
    archive = page.get_by_role("dialog", name="Archived chats")
    link = row(archive, "About rivers").get_by_role("link")
    expect(link).to_be_visible()
    assert violations_in_both_themes(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    link.focus()
    page.keyboard.press("Enter")
    expect(archive).to_have_count(0)
    expect(page.locator("#title")).to_have_text("About rivers")


@pytest.mark.core
def test_a_deleted_chat_is_restored_by_undo_or_from_the_trash_or_deleted_for_good(
    reader: Reader, phone: Reader
) -> None:
    begin(reader, "About salt", "About reeds")
    page = reader.page
    choose(page, "About reeds", "Delete")
    for one in (reader, phone):
        expect(row(one.page, "About reeds")).to_have_count(0)
    expect(page.locator("#title")).to_have_text("New chat")
    expect(page.locator(".undo").get_by_role("status")).to_have_text("“About reeds” was deleted.")
    notice, composer = page.locator(".undo").bounding_box(), page.locator("#composer").bounding_box()
    assert notice["y"] + notice["height"] <= composer["y"], "the next question can be written meanwhile"
    page.get_by_role("button", name="Undo").focus()
    page.keyboard.press("Enter")
    for one in (reader, phone):
        expect(row(one.page, "About reeds")).to_have_count(1)
    expect(page.locator("#title")).to_have_text("About reeds")
    expect(page.locator(".undo")).to_have_count(0)

    for title in ("About salt", "About reeds"):
        choose(page, title, "Delete")
        expect(row(page, title)).to_have_count(0)
    page.locator("#account").click()
    page.get_by_role("menuitem", name="Trash").click()
    trash = page.get_by_role("dialog", name="Trash")
    expect(trash.locator(".trash li .title")).to_have_text(["About reeds", "About salt"])
    assert violations_in_both_themes(page) == []
    trash.get_by_role("button", name="Restore “About salt”").click()
    expect(row(phone.page, "About salt")).to_have_count(1)
    trash.get_by_role("button", name="Delete “About reeds” for good").click()
    page.get_by_role("dialog", name="Delete this chat?").get_by_role("button", name="Delete").click()
    expect(trash.locator(".trash li")).to_have_count(0)
    expect(trash.get_by_text("The trash is empty.")).to_be_visible()
    expect(row(page, "About salt")).to_have_count(1)


def test_a_draft_comes_back_with_its_deleted_chat_and_ends_with_it(reader: Reader) -> None:
    page = reader.page
    begin(reader, "About moss")
    reader.field.fill("about ferns")
    choose(page, "About moss", "Delete")
    expect(reader.field).to_have_value("")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#title")).to_have_text("About moss")
    expect(reader.field).to_have_value("about ferns")
    choose(page, "About moss", "Delete")
    expect(row(page, "About moss")).to_have_count(0)
    page.locator("#account").click()
    page.get_by_role("menuitem", name="Trash").click()
    page.get_by_role("button", name="Delete “About moss” for good").click()
    page.get_by_role("dialog", name="Delete this chat?").get_by_role("button", name="Delete").click()
    expect(page.locator(".trash li")).to_have_count(0)
    assert "about ferns" not in page.evaluate("JSON.stringify({ ...localStorage })")


def test_a_title_is_written_on_while_its_chat_moves_in_the_list(reader: Reader, phone: Reader) -> None:
    begin(reader, "About tides", "About bread")
    page = reader.page
    row(page, "About tides").get_by_role("link").press("F2")
    field = page.locator("#sessions").get_by_role("textbox", name="Title")
    field.fill("About")
    choose(phone.page, "About tides", "Pin")
    expect(pinned(page).get_by_role("textbox", name="Title")).to_be_focused()
    field.press("End")
    field.press_sequentially(" the sea")
    field.press("Enter")
    expect(row(phone.page, "About the sea")).to_have_count(1)
