"""Reloads, second tabs and server restarts neither lose nor repeat text."""

import json
import signal

import pytest
from playwright.sync_api import WebSocketRoute, expect

from tests.browser.reader import Reader
from tests.stack import Stack

pytestmark = pytest.mark.browser


@pytest.mark.core
def test_a_reload_in_mid_answer_goes_on_where_it_was(reader: Reader, stack: Stack) -> None:
    stack.upstream.reply(
        {"text": "one "}, {"wait": "two"}, {"text": "two "}, {"wait": "three"}, {"text": "three 👩‍👩‍👧"}
    )
    reader.send("Count")
    reader.expect_partial_answer("one")
    reader.page.reload()
    reader.expect_partial_answer("one")
    stack.upstream.release("two")
    reader.expect_partial_answer("one two")
    reader.page.reload()
    stack.upstream.release("three")
    reader.expect_answer("one two three 👩‍👩‍👧")


@pytest.mark.core
def test_a_restarted_server_is_found_again_and_nothing_is_missing(reader: Reader, stack: Stack) -> None:
    stack.upstream.reply(
        {"text": "before "}, {"wait": "down"}, {"text": "meanwhile "}, {"wait": "up"}, {"text": "after"}
    )
    reader.send("Go on whatever happens")
    reader.expect_partial_answer("before")
    stack.signal("web", signal.SIGKILL)
    expect(reader.page.get_by_text("Reconnecting")).to_be_visible()
    stack.upstream.release("down")
    stack.start("web")
    stack.wait_until_ready()
    reader.expect_partial_answer("before meanwhile")
    expect(reader.page.get_by_text("Reconnecting")).to_be_hidden()
    stack.upstream.release("up")
    reader.expect_answer("before meanwhile after")


@pytest.mark.core
def test_a_second_tab_shows_the_same(reader: Reader, stack: Stack) -> None:
    reader.send("first")
    reader.expect_echo("first")
    other = reader.second_tab()
    stack.upstream.reply({"text": "shared "}, {"wait": "more"}, {"text": "answer"})
    reader.send("second")
    body = other.locator("article.answer .body").nth(1)
    expect(body).to_have_text("shared")
    other.locator("#composer").get_by_role("button", name="Stop").wait_for()
    stack.upstream.release("more")
    expect(body).to_have_text("shared answer")
    expect(other.locator("article.user")).to_have_count(2)


def test_what_the_server_cannot_push_at_first_is_read_and_asked_for_again(reader: Reader) -> None:
    reader.send("first")
    reader.expect_echo("first")
    refused: list[str] = []

    def refuse_once(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()

        def forward(text: str | bytes) -> None:
            command = json.loads(text)
            if command["type"] in ("subscribe", "watch_sessions") and command["type"] not in refused:
                refused.append(command["type"])
                error = {"type": "error", "code": "stream_unavailable", "message": ""}
                socket.send(json.dumps({**error, "id": command.get("id")}))
            else:
                server.send(text)

        socket.on_message(forward)

    other = reader.context.new_page()
    other.route_web_socket("**/ws/", refuse_once)
    other.goto(reader.page.url)
    expect(other.locator("article.answer .body")).to_contain_text("You said: first")
    expect(other.locator("#sessions a")).to_have_count(1)
    assert sorted(refused) == ["subscribe", "watch_sessions"]
    reader.send("second")
    expect(other.locator("article.answer .body").nth(1)).to_contain_text("You said: second")
    expect(other.locator("#notice")).to_be_hidden()
