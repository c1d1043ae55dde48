"""Tags of chats: set in a dialog, shown in the list and the bar, filtered by, renamed and deleted, in every browser at once."""

import re

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader
from tests.browser.test_kept_chats import begin, row

pytestmark = pytest.mark.browser
CHAT = re.compile("/api/sessions/[^/]+/$")


@pytest.fixture
def phone(reader: Reader, caller: Reader) -> Reader:
    """The same user in another browser, with the list open."""
    caller.page.locator("#sidebar-toggle").click()
    return caller


def dialog(page: Page) -> Locator:
    return page.get_by_role("dialog", name="Tags of this chat")


def add(reader: Reader, *tags: str) -> None:
    """To the open chat."""
    reader.choose_action("Tags")
    for tag in tags:
        dialog(reader.page).get_by_label("New tag").fill(tag)
        dialog(reader.page).get_by_role("button", name="Add").click()
        expect(dialog(reader.page).get_by_role("checkbox", name=tag)).to_be_checked()
    reader.page.keyboard.press("Escape")
    expect(dialog(reader.page)).to_have_count(0)


def chips(page: Page) -> Locator:
    return page.get_by_role("list", name="Tags of this chat").get_by_role("button")


def test_tags_are_shown_and_filter_the_list_in_every_browser(reader: Reader, phone: Reader) -> None:
    page = reader.page
    expect(page.get_by_label("Chats with the tag")).to_be_hidden()
    begin(reader, "About tides")
    add(reader, "Sea", "Moon")
    begin(reader, "About bread")
    expect(chips(page)).to_have_count(0)
    for one in (page, phone.page):
        expect(row(one, "About tides").locator(".tagged")).to_have_text("(Tags: Sea, Moon)")
        one.get_by_label("Chats with the tag").select_option("Sea")
        expect(row(one, "About bread")).to_have_count(0)
        expect(row(one, "About tides")).to_have_count(1)
    expect(page.locator("#title")).to_have_text("About bread")
    add(reader, "sea")
    for one in (page, phone.page):
        expect(row(one, "About bread")).to_have_count(1)
    expect(chips(page)).to_have_text(["Sea"])
    page.get_by_label("Chats with the tag").select_option("")
    row(page, "About tides").get_by_role("link").click()
    chips(page).nth(1).click()
    expect(page.get_by_label("Chats with the tag")).to_have_value("Moon")
    expect(row(page, "About bread")).to_have_count(0)


def test_a_tag_is_taken_off_renamed_and_deleted_everywhere(reader: Reader, phone: Reader) -> None:
    page = reader.page
    begin(reader, "About tides")
    add(reader, "Sea")
    begin(reader, "About bread")
    add(reader, "Food", "Sea")
    reader.choose_action("Tags")
    box = dialog(page).get_by_role("checkbox", name="Sea", exact=True)
    box.uncheck()
    expect(box).to_be_focused()
    dialog(page).get_by_role("button", name="Actions for the tag “Sea”").click()
    page.get_by_role("menuitem", name="Rename").click()
    page.get_by_role("dialog", name="Rename this tag").get_by_label("Name").fill("Ocean")
    page.get_by_role("dialog", name="Rename this tag").get_by_role("button", name="Rename").click()
    expect(dialog(page).get_by_role("checkbox", name="Ocean", exact=True)).not_to_be_checked()
    for one in (page, phone.page):
        expect(row(one, "About tides").locator(".tagged")).to_have_text("(Tags: Ocean)")
        expect(row(one, "About bread").locator(".tagged")).to_have_text("(Tags: Food)")
    dialog(page).get_by_role("button", name="Actions for the tag “Food”").click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("dialog", name="Delete this tag?").get_by_role("button", name="Delete").click()
    for one in (page, phone.page):
        expect(row(one, "About bread").locator(".tagged")).to_have_text("")
    dialog(page).get_by_label("New tag").fill("x" * 41)
    expect(dialog(page).get_by_label("New tag")).to_have_value("x" * 40)


def test_tags_are_accessible_and_fit_a_small_phone(phone: Reader, reader: Reader) -> None:
    begin(reader, "About tides")
    add(reader, "A tag of forty characters, which is long", "Moon")
    assert violations_in_both_themes(reader.page) == []
    reader.choose_action("Tags")
    expect(dialog(reader.page).get_by_role("checkbox")).to_have_count(2)
    assert violations_in_both_themes(reader.page) == []
    reader.page.keyboard.press("Escape")
    page = phone.page
    page.set_viewport_size({"width": 360, "height": 640})
    expect(page.get_by_label("Chats with the tag")).to_be_visible()
    assert violations_in_both_themes(page) == []
    row(page, "About tides").get_by_role("link").click()
    phone.choose_action("Tags")
    expect(dialog(page).get_by_role("checkbox")).to_have_count(2)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert violations_in_both_themes(page) == []


def test_tags_that_are_ticked_while_another_one_is_saved_are_all_kept(reader: Reader) -> None:
    page = reader.page
    begin(reader, "About tides")
    add(reader, "Sea", "Moon")
    begin(reader, "About bread")
    reader.choose_action("Tags")
    waiting: list[Route] = []
    page.route(
        CHAT, lambda route: waiting.append(route) if route.request.method == "PATCH" else route.fallback()
    )
    for tag in ("Sea", "Moon"):
        dialog(page).get_by_role("checkbox", name=tag).check()
    page.unroute(CHAT)  # continues what waits
    expect(chips(page)).to_have_text(["Sea", "Moon"])
    for tag in ("Sea", "Moon"):
        expect(dialog(page).get_by_role("checkbox", name=tag)).to_be_checked()
