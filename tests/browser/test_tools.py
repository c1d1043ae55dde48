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
    answer = helped.answers
    steps = answer.locator(".steps > summary")
    expect(steps).to_have_text("Looked at the clock")
    expect(answer.locator(".narration")).to_have_text("A moment.")
    stack.upstream.release("the answer")
    helped.sees_answer("It is late there.")
    for _ in range(2):
        steps.click()
        expect(answer.locator(".tool .hint")).to_have_text("Asia/Tokyo")
        expect(answer.locator(".tool .output")).to_contain_text("Asia/Tokyo")
        answer.locator(".round .reasoning summary").click()
        expect(answer.locator(".round .reasoning .markdown")).to_have_text("The clock knows.")
        helped.page.reload()
        helped.sees_answer("It is late there.")
