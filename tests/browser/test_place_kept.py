"""What a user acts on stays in sight: another version of a question, an early question that is edited, a message that waits."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.reader import Reader, wait_two_frames
from tests.browser.test_cut_network import Direct
from tests.browser.windows import PHONE, Windows
from tests.stack import Stack

pytestmark = pytest.mark.browser
DESKTOP = {"viewport": {"width": 1280, "height": 720}}
LINES = "\n\n".join(f"Line {number}." for number in range(12))
# Its beginning, and all of it where there is room; once nothing has moved for ten frames.
IN_SIGHT = """async (element) => {
    const scroller = document.getElementById("scroller");
    for (let still = 0, top = NaN; still < 10; top = scroller.scrollTop) {
        still = scroller.scrollTop === top ? still + 1 : 0;
        await new Promise(requestAnimationFrame);
    }
    const [place, room] = [element.getBoundingClientRect(), scroller.getBoundingClientRect()];
    return place.top >= room.top - 1 && (place.bottom <= room.bottom + 1 || place.height > room.height);
}"""


@pytest.fixture(params=[DESKTOP, PHONE], ids=["1280x720", "390x844"])
def anyone(windows: Windows, stack: Stack, request: pytest.FixtureRequest) -> Iterator[Reader]:
    with windows.borrowed("alice", **request.param) as reader:
        yield reader


def open_long_chat(reader: Reader, stack: Stack, *, turns: int = 12) -> None:
    sent_at = "2026-03-01T12:00:00Z"
    messages: list[dict[str, Any]] = [{"id": 0, "role": "root", "sent_at": sent_at, "latest_child": 1}]
    for number in range(1, 2 * turns + 1):
        role, text = ("user", f"Question {number // 2}") if number % 2 else ("assistant", LINES)
        below = {"latest_child": number + 1} if number < 2 * turns else {}
        messages.append(
            {"id": number, "role": role, "parent": number - 1, "text": text, "sent_at": sent_at, **below}
        )
    chat = {"format": "turnwire.session", "version": 2, "title": "Long", "messages": messages}
    opened = Direct(reader, stack.base_url).post("sessions/import/", chat)
    reader.page.goto(f"{reader.base_url}/#{opened['id']}")
    expect(reader.answers.last).to_be_in_viewport()


def question(reader: Reader, text: str) -> Locator:
    return reader.questions.filter(has=reader.page.get_by_text(text, exact=True))


def expect_in_sight(message: Locator) -> None:
    expect(message).to_have_count(1)
    expect(message).to_be_in_viewport()
    assert message.evaluate(IN_SIGHT)


def test_an_early_question_and_each_version_of_it_are_in_sight(anyone: Reader, stack: Stack) -> None:
    open_long_chat(anyone, stack)
    early = question(anyone, "Question 3")
    early.scroll_into_view_if_needed()
    early.hover()
    early.get_by_role("button", name="Edit").click()
    early.get_by_label("Edit your message").fill("Another question 3")
    anyone.page.get_by_role("button", name="Send").first.click()
    another = question(anyone, "Another question 3")
    expect_in_sight(another)
    expect(another.locator(".siblings")).to_contain_text("2/2")
    anyone.expect_echo("Another question 3", index=3)
    another.get_by_role("button", name="Previous version").press("Enter")
    expect_in_sight(question(anyone, "Question 3"))
    again = question(anyone, "Question 3").get_by_role("button", name="Next version")
    expect(again).to_be_focused()
    again.click()
    expect_in_sight(another)


def test_a_message_of_several_lines_with_a_file_that_waits_for_an_answer_is_in_sight(
    anyone: Reader, stack: Stack, ingest: None
) -> None:
    stack.upstream.reply({"text": LINES}, {"wait": "more"}, {"text": f"\n\n{LINES}"}, contains="story")
    open_long_chat(anyone, stack)
    anyone.send("Tell me a story")
    expect(anyone.answers.last).to_contain_text("Line 11.")
    anyone.page.locator("#scroller").evaluate("e => e.scrollTo(0, 0)")
    file = {"name": "sea.txt", "mimeType": "text/plain", "buffer": b"The flood comes at noon."}
    anyone.page.locator("#composer input[type=file]").set_input_files([file])
    expect(anyone.page.locator("#composer .file-card")).to_have_attribute("data-state", "ready")
    anyone.send("First line\nSecond line\nThird line\nFourth line")
    waiting = anyone.questions.last
    expect(waiting).to_contain_text("Fourth line")
    expect(waiting.locator(".file-card")).to_have_count(1)
    expect_in_sight(waiting)
    stack.upstream.release("more")
    expect(anyone.answers.last).to_contain_text("You said: First line")


def test_an_answer_is_followed_after_the_window_has_grown(anyone: Reader, stack: Stack) -> None:
    """As when the keyboard of a phone closes, or a long message leaves its field."""
    long = "\n\n".join([LINES, LINES, LINES, "Half."])
    stack.upstream.reply(
        {"text": long}, {"wait": "more"}, {"text": f"\n\n{LINES}\n\nThe end."}, contains="story"
    )
    anyone.send("Tell me a story")
    expect(anyone.answers.last).to_contain_text("Half.")
    size = anyone.page.viewport_size or {}
    for height in (size["height"] - 300, size["height"]):
        anyone.page.set_viewport_size({"width": size["width"], "height": height})
        expect(anyone.answers.last.get_by_text("Half.")).to_be_in_viewport()
        wait_two_frames(anyone.page)
    stack.upstream.release("more")
    expect(anyone.answers.last.get_by_text("The end.")).to_be_in_viewport()


def test_what_a_search_found_early_in_a_chat_is_in_sight(anyone: Reader, stack: Stack) -> None:
    open_long_chat(anyone, stack)
    # So slow that the chat is drawn in several frames, which come above what was found.
    slow = anyone.page.context.new_cdp_session(anyone.page)
    slow.send("Emulation.setCPUThrottlingRate", {"rate": 6})
    anyone.page.goto(f"{anyone.base_url}/")
    search = anyone.page.get_by_label("Search chats")
    if not search.is_visible():
        anyone.page.locator("#sidebar-toggle").click()
    search.fill("question 3")
    expect(anyone.page.locator("#search-status")).to_contain_text("found")
    anyone.page.locator("#sessions li a").first.click()
    expect(anyone.questions.filter(has_text="Question 3")).to_have_class("message user found")
    expect_in_sight(question(anyone, "Question 3"))
    slow.detach()
