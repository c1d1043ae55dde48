"""Tools on the page: what was called, what came of it, and the sources of the answer."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.reader import Reader
from tests.stack import Stack

pytestmark = pytest.mark.browser

POST = """async ([path, body]) => {
    const token = document.cookie.match(/csrftoken=([^;]+)/)[1];
    const headers = { "Content-Type": "application/json", "X-CSRFToken": token };
    return (await fetch(`/api/${path}`, { method: "POST", headers, body: JSON.stringify(body) })).json();
}"""


@pytest.fixture
def helped(reader: Reader) -> Reader:
    """In a session with an agent that has the clock."""
    agent = reader.page.evaluate(
        POST, ["agents/", {"name": "Clock", "prompt": "", "tools": ["current_time"]}]
    )
    session: dict[str, Any] = reader.page.evaluate(POST, ["sessions/", {"agent": agent["id"]}])
    reader.page.goto(f"{reader.base_url}/#{session['id']}")
    reader.page.reload()
    reader.is_let_in()
    return reader


def test_calls_are_listed_with_their_outcome_live_and_after_a_reload(helped: Reader, stack: Stack) -> None:
    call = {"call": {"name": "current_time", "arguments": {"timezone": "Asia/Tokyo"}}}
    stack.upstream.reply({"reasoning": "The clock knows."}, {"text": "A moment. "}, call, times=1)
    stack.upstream.reply({"wait": "the answer"}, {"text": "It is late there."})
    helped.send("What time is it in Tokyo?")
    tool = helped.answers.locator(".tool")
    expect(tool.locator(".tool-name")).to_have_text("current_time")
    expect(tool.locator(".hint")).to_have_text("Asia/Tokyo")
    helped.sees_so_far("A moment.")
    stack.upstream.release("the answer")
    helped.sees_answer("A moment. It is late there.")
    for _ in range(2):
        tool.locator("summary").click()
        expect(tool.locator(".output")).to_contain_text("Asia/Tokyo")
        expect(helped.answers.locator(".round .reasoning p")).to_have_text("The clock knows.")
        helped.page.reload()
        helped.sees_answer("A moment. It is late there.")
