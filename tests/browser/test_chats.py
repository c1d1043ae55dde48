"""The list of chats: groups, search, keyboard, and synchronisation between a user's tabs and browsers."""

import re
from collections.abc import Iterator

import psycopg
import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.reader import Reader
from tests.browser.windows import Windows
from tests.stack import Stack

pytestmark = pytest.mark.browser
MODELS = "**/api/models/"
# By carol, who has nothing else: number → days ago.
MANY = """
    WITH made AS (
        INSERT INTO chat_session (id, owner_id, title, while_answering, latest_event, seen_event, answered_event,
            created_at, updated_at)
        SELECT gen_random_uuid(), (SELECT id FROM auth_user WHERE username = 'carol'), 'Chat ' || n, 'enqueue', 0, 0, 0,
            now(), now() - n * interval '1 day'
        FROM generate_series(0, 119) AS n RETURNING id
    )
    INSERT INTO chat_chatmessage (id, session_id, role, text, reasoning, token_count, request_digest, sent_at)
    SELECT gen_random_uuid(), id, 'root', '', '', 0, '', now() FROM made
"""


@pytest.fixture
def carols(stack: Stack) -> None:
    with psycopg.connect(stack.environment["DATABASE_URL"]) as connection:
        connection.execute(MANY)


@pytest.fixture
def carol(windows: Windows, stack: Stack, carols: None) -> Iterator[Reader]:
    with windows.borrowed("carol") as reader:
        yield reader


def rows(page: Page) -> Locator:
    return page.locator("#sessions li")


def row(page: Page, title: str) -> Locator:
    return rows(page).filter(has=page.get_by_role("link", name=title, exact=True))


def test_chats_stand_under_their_time_and_older_ones_come_as_the_list_is_scrolled(carol: Reader) -> None:
    headings = carol.page.locator("#sessions h2")
    expect(headings.nth(0)).to_have_text("Today")
    expect(headings.nth(1)).to_have_text("Yesterday")
    expect(headings.nth(2)).to_have_text("Previous 7 days")
    expect(headings.nth(3)).to_have_text("Previous 30 days")
    week = carol.page.get_by_role("list", name="Previous 7 days")
    expect(week.get_by_role("listitem")).to_have_count(6)
    assert rows(carol.page).count() < 120
    while rows(carol.page).count() < 120:
        shown = rows(carol.page).count()
        rows(carol.page).last.scroll_into_view_if_needed()
        carol.page.mouse.move(100, 400)
        carol.page.mouse.wheel(0, 5000)
        expect(rows(carol.page).nth(shown)).to_be_attached()
    expect(carol.page.get_by_role("button", name="Show older chats")).to_be_hidden()


@pytest.mark.core
def test_chats_are_searched_by_title_and_by_message_text(carol: Reader) -> None:
    carol.send("About quokkas")
    carol.expect_echo("About quokkas")
    carol.page.locator("#scroller").press("/")
    search = carol.page.get_by_label("Search chats")
    expect(search).to_be_focused()
    search.fill("Chat 11")
    expect(rows(carol.page)).to_have_count(11)
    expect(carol.page.locator("#search-status")).to_have_text("11 chats found")
    search.fill("You said: About quok")
    expect(rows(carol.page)).to_have_count(1)
    expect(rows(carol.page).get_by_role("link")).to_have_attribute("aria-current", "page")
    search.fill("nothing has this")
    expect(carol.page.locator("#sessions")).to_contain_text("No chat has this")
    search.press("Escape")
    expect(rows(carol.page).nth(20)).to_be_attached()


def test_the_list_is_used_by_keyboard(carol: Reader) -> None:
    page = carol.page
    expect(rows(page).nth(5)).to_be_attached()
    page.get_by_label("Search chats").press("ArrowDown")
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    focused = page.locator("#sessions a:focus")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    before = focused.inner_text()
    page.keyboard.press("F2")
    page.keyboard.type("given up")
    page.keyboard.press("Escape")
    expect(focused).to_have_text(before)
    page.keyboard.press("F2")
    page.keyboard.type("A better name")
    page.keyboard.press("Enter")
    expect(focused).to_have_text("A better name")
    page.keyboard.press("Enter")
    expect(page.locator("#title")).to_have_text("A better name")
    row(page, "A better name").get_by_role("link").focus()
    page.keyboard.press("Delete")
    expect(row(page, "A better name")).to_have_count(0)
    expect(page.locator("#title")).to_have_text("New chat")


@pytest.fixture
def phone(reader: Reader, caller: Reader) -> Reader:
    """The same user in another browser, with the list open."""
    caller.page.locator("#sidebar-toggle").click()
    return caller


@pytest.mark.core
def test_every_browser_of_a_user_sees_what_is_answered_and_what_is_new(
    reader: Reader, phone: Reader, stack: Stack
) -> None:
    stack.upstream.reply({"text": "Once"}, {"wait": "go on"}, contains="story")
    mine, there = rows(reader.page).first, rows(phone.page).first
    reader.send("A long story")
    expect(there).to_contain_text("(being answered)")
    reader.page.get_by_role("button", name="New chat").click()
    stack.upstream.release("go on")
    for one in (mine, there):
        expect(one).to_contain_text("(new answer)")
    mine.get_by_role("link").click()
    for one in (mine, there):
        expect(one).not_to_contain_text("(new answer)")
    # What is looked at while it ends is not new.
    reader.send("One more")
    reader.expect_echo("One more", index=1)
    for one in (mine, there):
        expect(one).not_to_contain_text("(being answered)")
        expect(one).not_to_contain_text("(new answer)")


def test_every_browser_of_a_user_sees_chats_renamed_and_deleted(reader: Reader, phone: Reader) -> None:
    reader.send("Hello")
    reader.expect_echo("Hello")
    mine = rows(reader.page).first
    mine.get_by_role("link").dblclick()
    mine.get_by_role("textbox", name="Title").fill("Of the sea")
    reader.page.keyboard.press("Enter")
    there = row(phone.page, "Of the sea")
    expect(there).to_have_count(1)
    expect(reader.page.locator("#title")).to_have_text("Of the sea")
    there.get_by_role("link").click()
    expect(phone.page.locator("#title")).to_have_text("Of the sea")
    mine.hover()
    mine.get_by_role("button", name="Actions").click()
    reader.page.get_by_role("menuitem", name="Delete").click()
    expect(there).to_have_count(0)
    expect(phone.page.locator("#title")).to_have_text("New chat")


@pytest.mark.parametrize("is_new", [False, True])
def test_a_message_stays_in_its_chat_whatever_is_opened_while_it_is_sent(
    reader: Reader, is_new: bool
) -> None:
    page = reader.page
    fragments: list[str] = []
    for text in ("in x", "in y"):
        page.locator("#new-chat").click()
        reader.send(text)
        reader.expect_echo(text)
        fragments.append(page.evaluate("location.hash"))
    x, y = (page.locator(f'#sessions a[href="{fragment}"]') for fragment in fragments)
    held: list[Route] = []
    (page.locator("#new-chat") if is_new else x).click()
    page.route(MODELS, lambda route: held.append(route))  # noqa: PLW0108  Playwright marks the function
    page.reload()
    reader.send("more")
    y.click()
    reader.expect_echo("in y")
    reader.field.fill("a draft")
    page.unroute(MODELS)  # continues what is held
    expect(rows(page)).to_have_count(3 if is_new else 2)
    (rows(page).first.get_by_role("link") if is_new else x).click()
    reader.expect_echo("more", index=0 if is_new else 1)
    expect(reader.field).to_have_value("")
    y.click()
    reader.expect_echo("in y")
    expect(reader.questions).to_have_count(1)
    expect(reader.field).to_have_value("a draft")


@pytest.mark.parametrize("where", ["Knowledge", "New chat"])
def test_a_click_while_the_first_message_is_stored_is_not_undone(reader: Reader, where: str) -> None:
    page = reader.page
    held: list[Route] = []
    page.route(re.compile("/api/sessions/$"), lambda route: held.append(route))  # noqa: PLW0108  as above
    text = f"Stored while {where} is opened"
    reader.field.fill(text)
    page.locator("[data-send]").click()
    expect(page.locator("#conversation")).to_contain_text(text)
    page.locator("#sidebar").get_by_text(where, exact=True).click()
    if where == "Knowledge":
        expect(page.get_by_role("heading", level=1, name="Knowledge")).to_be_visible()
    while not held:
        page.wait_for_timeout(10)
    for route in held:
        route.continue_()
    chat = page.locator("#sessions").get_by_role("link", name=text)
    expect(chat).to_be_visible()
    expect(chat).not_to_have_attribute("aria-current", "page")
    expect(reader.field).to_have_value("")
    expect(page.get_by_role("heading", level=1)).to_have_text(where)
    chat.click()
    reader.expect_echo(text)
