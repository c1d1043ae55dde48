"""A search opens the chat at what it found: in unread history, on another branch, with its words marked."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader, wait_for_script
from tests.browser.test_cut_network import Direct
from tests.stack import Stack

pytestmark = pytest.mark.browser
SEARCHES = re.compile(r"/sessions/[^/]+/search/")
# Messages of a long chat.
LENGTH = 1000
MARKED = "() => [...(CSS.highlights.get('found') ?? [])].map(String)"
IN_SIGHT = """(text) => {
    const mark = [...(CSS.highlights.get('found') ?? [])].find((range) => String(range) === text)?.getBoundingClientRect();
    const place = document.getElementById('scroller').getBoundingClientRect();
    return mark !== undefined && mark.top >= place.top && mark.bottom <= place.bottom;
}"""


def find(page: Page, text: str) -> None:
    """Search, and open the only result."""
    with page.expect_response(
        lambda answer: "sessions/?" in answer.url and "search=" in answer.url
    ):  # an earlier search may have found as many
        page.get_by_label("Search chats").fill(text)
    expect(page.locator("#search-status")).to_have_text("1 chat found")
    page.locator("#sessions li a").click()


def test_a_hit_on_another_branch_is_shown_and_its_words_are_marked(reader: Reader) -> None:
    reader.send("The zebra question")
    reader.expect_echo("The zebra question")
    reader.edit(0, "Something else")
    reader.expect_echo("Something else")
    find(reader.page, "zebr")
    expect(reader.questions.locator(".question-text")).to_have_text("The zebra question")
    expect(reader.questions.first).to_be_focused()
    expect(reader.questions.first).to_have_class("message user found")
    wait_for_script(reader.page, f"({MARKED})().join() === 'zebr'")
    assert violations_in_both_themes(reader.page) == []
    reader.page.reload()
    expect(reader.questions.first).to_be_focused()


def moment(day: int, number: int) -> str:
    return f"2026-03-{day:02}T12:{number // 60:02}:{number % 60:02}Z"


def long_chat() -> dict[str, Any]:
    """The file of a chat of which the page reads a small part at first."""
    messages: list[dict[str, Any]] = [{"id": 0, "role": "root", "sent_at": moment(1, 0), "latest_child": 1}]
    texts = ["The okapi question\n\n" + "line\n\n" * 60 + "giraffes at the end"]
    texts += [f"line {number}\n\n" * 4 for number in range(1, LENGTH)]
    for number, text in enumerate(texts, 1):
        role = "user" if number % 2 else "assistant"
        below = {"latest_child": number + 1} if number < len(texts) else {}
        messages.append(
            {
                "id": number,
                "role": role,
                "parent": number - 1,
                "text": text,
                "sent_at": moment(1, number),
                **below,
            }
        )
    return {"format": "turnwire.session", "version": 2, "title": "Zoo", "messages": messages}


def test_a_hit_in_history_that_is_not_loaded_comes_into_sight(reader: Reader, stack: Stack) -> None:
    Direct(reader, stack.base_url).post("sessions/import/", long_chat())
    reads: list[str] = []
    reader.page.on(
        "request", lambda request: reads.append(request.url) if "/messages/?" in request.url else None
    )
    find(reader.page, "giraffes")
    expect(reader.questions.first).to_contain_text("okapi")
    wait_for_script(reader.page, IN_SIGHT, arg="giraffes")
    assert len(reads) <= 4
    # What is drawn around it meanwhile does not move it.
    expect(reader.page.locator("#scroller article")).to_have_count(LENGTH)
    assert reader.page.evaluate(IN_SIGHT, "giraffes")


def test_words_are_marked_in_whichever_spelling(reader: Reader) -> None:
    written = "Zu\u0308rich, the of\ufb01ce: \u4fee\u6539youer\u670d\u52a1"
    reader.send(written)
    reader.expect_echo(written)
    find(reader.page, "Z\u00fcrich OFFICE \uff59ouer")
    marked = "Zu\u0308rich,of\ufb01ce,youer"
    wait_for_script(reader.page, f"(text) => ({MARKED})().join() === text", arg=marked)
    expect(reader.questions.locator(".question-text")).to_have_text(written)


def test_a_second_search_that_finds_the_open_message_marks_its_own_words(reader: Reader) -> None:
    reader.send("The tapir eats reeds")
    reader.expect_echo("The tapir eats reeds")
    for word in ("tapir", "reeds"):
        find(reader.page, word)
        wait_for_script(reader.page, f"(word) => ({MARKED})().join() === word", arg=word)


def test_marks_go_with_the_next_chat(reader: Reader) -> None:
    reader.send("The tapir question")
    reader.expect_echo("The tapir question")
    find(reader.page, "tapir")
    expect(reader.page.locator(".message.found")).to_have_count(1)
    reader.page.locator("#new-chat").click()
    expect(reader.page.locator(".message.found")).to_have_count(0)
    assert reader.page.evaluate(MARKED) == []


def test_all_that_a_search_finds_in_a_chat_is_reached_one_after_the_other(
    reader: Reader, stack: Stack
) -> None:
    chat = long_chat()
    for number in (100, 500, 900):
        chat["messages"][number]["text"] += " a **zebra**"
    Direct(reader, stack.base_url).post("sessions/import/", chat)
    page = reader.page
    find(page, "zebra")
    expect(page.locator("#sessions .match")).to_have_text(re.compile("^….* line 99 a zebra"))
    expect(page.locator("#sessions .match mark")).to_have_text("zebra")
    bar = page.get_by_role("search")
    for number in (1, 2, 3, 1):
        expect(bar.get_by_role("status")).to_have_text(f"{number} of 3")
        wait_for_script(page, IN_SIGHT, arg="zebra")
        bar.get_by_role("button", name="Found next").click()
    assert violations_in_both_themes(page) == []


def test_words_dates_and_the_beginning_of_a_chat_are_found_from_its_menu(
    reader: Reader, stack: Stack
) -> None:
    chat = long_chat()
    for number in range(400, len(chat["messages"])):
        chat["messages"][number]["sent_at"] = moment(9, number)
    opened = Direct(reader, stack.base_url).post("sessions/import/", chat)
    page = reader.page
    page.goto(f"{reader.base_url}/#{opened['id']}")
    page.locator("#session-menu").click()
    page.get_by_role("menuitem", name="Find in this chat").click()
    field = page.get_by_role("searchbox", name="Find in this chat")
    expect(field).to_be_focused()
    field.fill("giraffes")
    wait_for_script(page, IN_SIGHT, arg="giraffes")
    expect(field).to_be_focused()
    page.get_by_label("Go to a date").fill("2026-03-05")
    expect(page.locator("#scroller article").filter(has_text="line 399 ")).to_be_focused()
    page.get_by_role("button", name="Beginning").click()
    expect(reader.questions.first).to_be_focused()
    expect(reader.questions.first).to_contain_text("okapi")
    field.fill("a lion")
    expect(page.get_by_role("search").get_by_role("status")).to_have_text("Not found")
    field.press("Escape")
    expect(page.get_by_role("search")).to_have_count(0)


def test_a_search_that_is_answered_after_its_bar_was_closed_shows_nothing(reader: Reader) -> None:
    reader.send("The zebra question")
    reader.expect_echo("The zebra question")
    reader.edit(0, "Something else")
    reader.expect_echo("Something else")
    page = reader.page
    branches: list[str] = []
    page.on("request", lambda request: branches.append(request.url) if "/selection/" in request.url else None)
    waiting: list[Route] = []
    page.route(SEARCHES, lambda route: waiting.append(route))  # noqa: PLW0108  Playwright marks the function
    reader.choose_action("Find in this chat")
    field = page.get_by_role("searchbox", name="Find in this chat")
    with page.expect_request(SEARCHES):
        field.fill("zebra")
    page.get_by_role("search").get_by_role("button", name="Close").click()
    with page.expect_response(SEARCHES):
        page.unroute(SEARCHES)  # continues what waits
    # A later search is answered later.
    reader.choose_action("Find in this chat")
    field.fill("else")
    expect(page.get_by_role("search").get_by_role("status")).to_have_text("2 of 2")
    expect(reader.questions.locator(".question-text")).to_have_text("Something else")
    assert branches == []


def test_a_date_is_gone_to_when_its_year_is_complete(reader: Reader) -> None:
    page = reader.page
    reader.send("The zebra question")
    reader.expect_echo("The zebra question")
    read: list[str] = []
    page.on("request", lambda request: read.append(request.url) if request.url.endswith("/tree/") else None)
    reader.choose_action("Find in this chat")
    page.get_by_label("Go to a date").press_sequentially("01012020")
    expect(page.get_by_label("Go to a date")).to_have_value("2020-01-01")
    expect(reader.questions.first).to_be_focused()
    assert len(read) == 1
