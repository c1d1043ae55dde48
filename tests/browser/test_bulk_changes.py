"""Several chats are picked in the sidebar, by menu, click and keys, and archived or deleted at once."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader
from tests.browser.test_cut_network import Direct
from tests.browser.test_kept_chats import choose, row
from tests.stack import Stack

pytestmark = pytest.mark.browser


@pytest.fixture
def page(reader: Reader, stack: Stack) -> Page:
    direct = Direct(reader, stack.base_url)
    for title in ("Four", "Three", "Two", "One"):
        direct.post("sessions/", {"title": title})
    expect(reader.page.locator("#sessions li")).to_have_count(4)
    return reader.page


def selection(page: Page) -> Locator:
    return page.get_by_role("group", name="Selected chats")


def expect_titles(page: Page, *titles: str) -> None:
    expect(page.locator("#sessions .title")).to_have_text([*titles])


def test_picked_chats_are_deleted_and_come_back_with_one_undo(page: Page) -> None:
    row(page, "Two").get_by_role("link").click()
    choose(page.locator("#sessions"), "One", "Select")
    expect(selection(page)).to_contain_text("1 chat selected")
    row(page, "Three").get_by_role("link").click(modifiers=["Shift"])
    expect(selection(page)).to_contain_text("3 chats selected")
    row(page, "One").get_by_role("checkbox").click()
    expect(row(page, "One").get_by_role("checkbox")).not_to_be_checked()
    assert violations_in_both_themes(page) == []
    selection(page).get_by_role("button", name="Delete").click()
    expect_titles(page, "One", "Four")
    expect(page.locator("#title")).to_have_text("New chat")
    expect(selection(page)).to_be_hidden()
    expect(page.locator(".undo")).to_contain_text("2 chats were deleted.")
    page.locator(".undo button").click()
    expect_titles(page, "One", "Two", "Three", "Four")
    expect(page.locator("#title")).to_have_text("Two")


def test_chats_are_picked_and_archived_by_keys(page: Page) -> None:
    row(page, "One").get_by_role("link").focus()
    page.keyboard.press("Space")
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("Shift+ArrowDown")
    expect(selection(page)).to_contain_text("3 chats selected")
    expect(row(page, "Three").get_by_role("link")).to_be_focused()
    page.keyboard.press("Escape")
    expect(selection(page)).to_be_hidden()
    page.keyboard.press("Control+a")
    expect(selection(page)).to_contain_text("4 chats selected")
    page.keyboard.press("Space")
    expect(row(page, "Three").get_by_role("checkbox")).not_to_be_checked()
    selection(page).get_by_role("button", name="Archive").click()
    expect_titles(page, "Three")
    page.get_by_role("button", name="Undo").click()
    expect_titles(page, "One", "Two", "Three", "Four")


def test_picked_chats_are_deleted_by_the_delete_key(page: Page) -> None:
    row(page, "One").get_by_role("link").focus()
    page.keyboard.press("Space")
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("Delete")
    expect_titles(page, "Three", "Four")


def test_if_one_is_gone_all_stay_and_the_page_says_so(page: Page) -> None:
    page.route(
        "**/sessions/bulk/",
        lambda route: route.fulfill(status=404, json={"code": "session_not_found", "message": "Gone."}),
    )
    row(page, "One").get_by_role("link").focus()
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    expect(page.locator("#notice")).to_contain_text("does not exist")
    expect_titles(page, "One", "Two", "Three", "Four")


def test_chats_are_picked_by_touch(caller: Reader, stack: Stack) -> None:
    direct = Direct(caller, stack.base_url)
    for title in ("Two", "One"):
        direct.post("sessions/", {"title": title})
    page = caller.page
    page.locator("#sidebar-toggle").tap()
    row(page, "One").get_by_role("button").tap()
    page.get_by_role("menuitem", name="Select", exact=True).tap()
    row(page, "Two").get_by_role("link").tap()
    expect(selection(page)).to_contain_text("2 chats selected")
    assert violations_in_both_themes(page) == []
    selection(page).get_by_role("button", name="Stop selecting").tap()
    expect(selection(page)).to_be_hidden()
    row(page, "One").get_by_role("link").tap()
    expect(page.locator("#title")).to_have_text("One")


def test_without_a_trash_chats_are_deleted_only_after_a_question_and_no_undo_is_promised(page: Page) -> None:
    page.locator("#sessions").evaluate("list => list.dataset.trash = 'none'")
    choose(page.locator("#sessions"), "One", "Delete")
    asked = page.get_by_role("dialog", name="Delete this chat?")
    expect(asked).to_contain_text("“One” and all its branches are deleted for good.")
    asked.get_by_role("button", name="Cancel").click()
    expect(row(page, "One")).to_have_count(1)
    choose(page.locator("#sessions"), "One", "Delete")
    asked.get_by_role("button", name="Delete").click()
    expect_titles(page, "Two", "Three", "Four")
    choose(page.locator("#sessions"), "Two", "Select")
    row(page, "Three").get_by_role("link").click(modifiers=["Shift"])
    selection(page).get_by_role("button", name="Delete").click()
    page.get_by_role("dialog", name="Delete 2 chats for good?").get_by_role("button", name="Delete").click()
    expect_titles(page, "Four")
    expect(page.locator(".undo")).to_have_count(0)
