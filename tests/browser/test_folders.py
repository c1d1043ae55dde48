"""Projects as folders in the sidebar: they unfold to their chats, remember it, change live, and take chats that are dropped on them."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader
from tests.browser.test_projects import choose, create, delete_all, row

pytestmark = pytest.mark.browser

# One more than a page of the list.
FILL = """async () => {
    const headers = { "X-CSRFToken": document.cookie.match(/csrftoken=([^;]+)/)[1], "Content-Type": "application/json" };
    for (let n = 0; n < 51; n += 1) {
        const body = JSON.stringify({ title: `Chat ${n}`, project: location.hash.slice("#project/".length) });
        await fetch("/api/sessions/", { method: "POST", headers, body });
    }
}"""


@pytest.fixture
def owner(reader: Reader) -> Reader:
    delete_all(reader.page)
    return reader


@pytest.fixture
def phone(owner: Reader, caller: Reader) -> Reader:
    """The same user in another browser, with the list open."""
    caller.page.locator("#sidebar-toggle").click()
    return caller


def fold_button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=f"Chats of “{name}”", exact=True)


def chats_in(page: Page, name: str) -> Locator:
    return page.locator("#project-list").get_by_role("list", name=f"Chats of “{name}”").locator("li .title")


def ask(reader: Reader, question: str) -> None:
    """Begins a chat that is named by its question."""
    reader.send(question)
    reader.expect_echo(question)
    reader.choose_action("Rename")
    reader.page.get_by_role("dialog").get_by_label("Title").fill(question)
    reader.page.get_by_role("dialog").get_by_role("button", name="Rename").click()
    expect(reader.page.locator("#title")).to_have_text(question)


def test_a_folder_shows_its_chats_live_and_stays_unfolded(owner: Reader, phone: Reader) -> None:
    page = owner.page
    create(page, "Tides")
    fold_button(page, "Tides").click()
    expect(page.locator("#project-list").get_by_text("No chats yet")).to_be_visible()
    ask(owner, "About ebb")
    expect(chats_in(page, "Tides")).to_have_text(["About ebb"])
    expect(page.locator("#project-list [aria-current]")).to_have_text("About ebb")
    fold_button(phone.page, "Tides").click()
    expect(chats_in(phone.page, "Tides")).to_have_text(["About ebb"])
    owner.choose_action("Take out of its project")
    for one in (page, phone.page):
        expect(chats_in(one, "Tides")).to_have_count(0)
        expect(one.locator("#project-list").get_by_text("No chats yet")).to_be_visible()
    page.reload()
    expect(fold_button(page, "Tides")).to_have_attribute("aria-expanded", "true")
    fold_button(page, "Tides").click()
    expect(page.locator("#project-list").get_by_text("No chats yet")).to_be_hidden()
    page.reload()
    expect(fold_button(page, "Tides")).to_have_attribute("aria-expanded", "false")


def test_a_chat_is_dropped_on_a_folder_and_moves_on_to_another(owner: Reader, phone: Reader) -> None:
    page = owner.page
    for name in ("Tides", "Moons"):
        create(page, name)
    page.get_by_role("button", name="New chat", exact=True).click()
    ask(owner, "About ebb")
    fold_button(phone.page, "Tides").click()
    chat = page.locator("#sessions li", has_text="About ebb").get_by_role("link")
    chat.drag_to(row(page, "Tides"))
    expect(page.locator("#project-link")).to_have_text("Tides")
    expect(page.locator("#announcer")).to_have_text("Moved to “Tides”")
    expect(page.locator("#project-list .over")).to_have_count(0)
    for one in (page, phone.page):
        if one is page:
            fold_button(one, "Tides").click()
        expect(chats_in(one, "Tides")).to_have_text(["About ebb"])
    page.locator("#project-list").get_by_role("link", name="About ebb").drag_to(row(page, "Moons"))
    expect(page.locator("#project-link")).to_have_text("Moons")
    for one in (page, phone.page):
        expect(chats_in(one, "Tides")).to_have_count(0)
    expect(page.locator("#sessions li", has_text="About ebb")).to_have_count(1)


def test_folders_and_their_chats_are_used_by_keyboard(owner: Reader) -> None:
    page = owner.page
    for name in ("Moons", "Tides"):
        create(page, name)
    ask(owner, "About ebb")
    link = row(page, "Tides").get_by_role("link", name="Tides", exact=True)
    link.focus()
    page.keyboard.press("ArrowRight")
    expect(chats_in(page, "Tides")).to_have_text(["About ebb"])
    page.keyboard.press("ArrowDown")
    chat = page.locator("#project-list").get_by_role("link", name="About ebb")
    expect(chat).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("link", name="Moons", exact=True)).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(chat).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(link).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(chats_in(page, "Tides")).to_have_count(0)
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("link", name="Moons", exact=True)).to_be_focused()


def test_a_folder_of_many_chats_reads_them_page_by_page_and_leaves_with_its_project(owner: Reader) -> None:
    page = owner.page
    create(page, "Tides")
    page.evaluate(FILL)
    reads: list[str] = []
    page.on("request", lambda request: reads.append(request.url) if "cursor=" in request.url else None)
    fold_button(page, "Tides").click()
    expect(chats_in(page, "Tides").first).to_have_text("Chat 50")
    chats_in(page, "Tides").last.scroll_into_view_if_needed()
    expect(chats_in(page, "Tides")).to_have_count(51)
    assert reads
    choose(page, "Tides", "Delete")
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.locator("#project-list li")).to_have_count(0)


def test_folders_are_accessible_and_fit_a_small_phone(owner: Reader, phone: Reader) -> None:
    page = owner.page
    create(page, "A project whose name is much longer than the list is wide")
    ask(owner, "About ebb")
    page = phone.page
    page.set_viewport_size({"width": 360, "height": 640})
    for one in (owner.page, page):
        one.get_by_role("button", name="Chats of “A project").click()
        expect(one.locator("#project-list .session-list li")).to_have_count(1)
        assert violations_in_both_themes(one) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
