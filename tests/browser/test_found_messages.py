"""A search opens the chat at what it found: in unread history, on another branch, with its words marked."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessible import violations_in_both_themes
from tests.browser.reader import Reader, wait_for_script
from tests.browser.test_cut_network import Direct
from tests.stack import Stack

pytestmark = pytest.mark.browser
# Messages of a long chat.
LENGTH = 1000
MARKED = "() => [...(CSS.highlights.get('found') ?? [])].map(String)"
IN_SIGHT = """(text) => {
    const mark = [...CSS.highlights.get('found')].find((range) => String(range) === text)?.getBoundingClientRect();
    const place = document.getElementById('scroller').getBoundingClientRect();
    return mark !== undefined && mark.top >= place.top && mark.bottom <= place.bottom;
}"""


def find(page: Page, text: str) -> None:
    """Search, and open the only result."""
    with page.expect_response(
        lambda answer: "search=" in answer.url
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


def long_chat() -> dict[str, Any]:
    """The file of a chat of which the page reads a small part at first."""
    sent_at = "2026-03-01T12:00:00Z"
    messages: list[dict[str, Any]] = [{"id": 0, "role": "root", "sent_at": sent_at, "latest_child": 1}]
    texts = ["The okapi question\n\n" + "line\n\n" * 60 + "giraffes at the end"]
    texts += [f"line {number}\n\n" * 4 for number in range(1, LENGTH)]
    for number, text in enumerate(texts, 1):
        role = "user" if number % 2 else "assistant"
        below = {"latest_child": number + 1} if number < len(texts) else {}
        messages.append(
            {"id": number, "role": role, "parent": number - 1, "text": text, "sent_at": sent_at, **below}
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
