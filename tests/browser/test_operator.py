"""An operator's exercise: ten answers go wrong, and each cause is found in the admin within three clicks.

The operator starts from what a user reads on the page (the reference of an answer), or from a line of a worker's log.
"""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.admin_scene import staff
from tests.browser.reader import Reader
from tests.faults.cluster import WORKERS, Cluster
from tests.tool_fixtures import search_call

pytestmark = [pytest.mark.browser, pytest.mark.fault, pytest.mark.timeout(600)]

MOST_CLICKS = 3
# Until a window of 3,000 tokens has to be compressed.
MOST_QUESTIONS = 8
UNDER_WAY = "SELECT 1 FROM chat_compression WHERE status IN ('queued', 'running')"
SMALL_MODEL = """
from chat.models import ModelConfig
ModelConfig.objects.create(name="small", context_window=3000, max_output_tokens=500)
"""
POST = """async ([path, body]) => {
    const token = document.cookie.match(/csrftoken=([^;]+)/)[1];
    const headers = { "Content-Type": "application/json", "X-CSRFToken": token };
    return (await fetch(`/api/${path}`, { method: "POST", headers, body: JSON.stringify(body) })).json();
}"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster.running() as cluster:
        cluster.stack.manage("shell", "-v", "0", "-c", SMALL_MODEL)
        yield cluster


@pytest.fixture
def user(browser: Browser, cluster: Cluster) -> Iterator[Reader]:
    cluster.restore()
    with Reader.at(browser, cluster.stack.base_url) as reader:
        reader.log_in_by_cookie("alice")
        yield reader


class Operator:
    """Staff in the admin, who counts clicks."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.clicks = 0

    def look_up(self, words: str) -> None:
        self.page.get_by_role("searchbox", name="Id, reference or log line").fill(words)
        self._click("button", "Look up")
        expect(self.page.get_by_role("heading", name="What stands out")).to_be_visible()

    def follow(self, link: str) -> None:
        self._click("link", link)

    def reads(self, *words: str) -> None:
        for text in words:
            expect(self.page.locator("#content")).to_contain_text(text)
        assert self.clicks <= MOST_CLICKS

    def _click(self, role: Any, name: str) -> None:
        self.page.get_by_role(role, name=name).first.click()
        self.clicks += 1


@pytest.fixture
def operator(browser: Browser, cluster: Cluster) -> Iterator[Operator]:
    with staff(browser, cluster.stack) as reader:
        yield Operator(reader.page)


def reference_in_message(user: Reader) -> str:
    """What the page says of an answer that failed."""
    message = user.answers.last.locator(".problem")
    expect(message).to_contain_text("Reference")
    return message.inner_text()


def reference_in_details(user: Reader) -> str:
    """What the page says of any answer, when its details are opened."""
    answer = user.answers.last
    expect(answer).to_have_attribute("aria-busy", "false")
    answer.get_by_role("button", name="Usage and timing").click()
    card = answer.locator(".popover-card")
    expect(card).to_contain_text("Reference")
    return card.inner_text()


def log_line(cluster: Cluster, words: str) -> str:
    """The line of a process's log that says these words of the user's only run: logs also tell of the tests before."""
    [(run,)] = cluster.rows("SELECT id FROM chat_run")
    wanted = re.compile(rf"(?i)({words}).*run={run}")
    found: list[str] = cluster.wait_until(
        lambda: [line for line in cluster.logs().splitlines() if wanted.search(line)], words
    )
    return found[-1]


def with_tools(user: Reader, *tools: str) -> None:
    """Open a chat with an agent that has them."""
    agent = user.page.evaluate(POST, ["agents/", {"name": "Helper", "prompt": "", "tools": [*tools]}])
    session: dict[str, Any] = user.page.evaluate(POST, ["sessions/", {"agent": agent["id"]}])
    user.page.goto(f"{user.base_url}/#{session['id']}")
    user.page.reload()
    user.wait_until_ready()


def error_body(code: str, message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "code": code}}


@pytest.mark.parametrize(
    ("status", "code", "message", "shown"),
    [
        (401, "invalid_api_key", "Incorrect API key provided.", "refused its key"),
        (404, "model_not_found", "The model `alpha` does not exist.", "does not have this model"),
        (400, "context_length_exceeded", "This model's maximum context length is 4096 tokens.", "too long for the model"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("begin", ["message", "log"])
def test_the_error_of_a_model_server(
    user: Reader, cluster: Cluster, operator: Operator,
    begin: str, status: int, code: str, message: str, shown: str,
) -> None:  # fmt: skip
    cluster.upstream.reply({"status": status, "body": error_body(code, message)})
    user.send("Hello")
    start = reference_in_message(user)
    assert shown in start
    operator.look_up(start if begin == "message" else log_line(cluster, f"{code}|status {status}"))
    operator.reads(f"{status} {code} {message}")


@pytest.mark.parametrize(
    ("finish", "shown"), [("content_filter", "Cut by the provider's filter"), ("length", "Stopped at")]
)
def test_an_answer_that_was_cut(
    user: Reader, cluster: Cluster, operator: Operator, finish: str, shown: str
) -> None:
    cluster.upstream.reply({"text": "Two tides a"}, {"finish": finish})
    user.send("Why?")
    expect(user.answers.last).to_contain_text(shown)
    operator.look_up(reference_in_details(user))
    operator.reads(f"The answer was cut: {finish}")


def test_a_tool_that_is_dead(user: Reader, cluster: Cluster, operator: Operator) -> None:
    with_tools(user, "web_search")
    cluster.searching.answer(status=500)
    cluster.upstream.reply(search_call("tides"), times=1)
    cluster.upstream.reply({"text": "I do not know."})
    user.send("Look it up")
    user.expect_answer("I do not know.")
    operator.look_up(reference_in_details(user))
    operator.reads("Tool call failed: web_search", "status 500")


def test_a_call_that_was_refused(user: Reader, cluster: Cluster, operator: Operator) -> None:
    with_tools(user, "web_search")
    cluster.upstream.reply({"call": {"name": "web_search", "arguments": {"query": 7}}}, times=1)
    cluster.upstream.reply({"text": "I could not search."})
    user.send("Look it up")
    user.expect_answer("I could not search.")
    operator.look_up(reference_in_details(user))
    operator.reads("Tool call failed: web_search", "did not match the schema")


WRONG = "The user asked question 0, question 1 and more; each answer spoke of two tides and repeated the same word; they agreed on FOUR tides."


def test_a_summary_that_says_something_else_than_the_messages(
    user: Reader, cluster: Cluster, operator: Operator
) -> None:
    cluster.stack.start("compression")
    cluster.upstream.reply({"text": WRONG}, stream=False)
    user.pick("small")
    summary = "SELECT 1 FROM chat_chatmessage WHERE role = 'summary'"
    asked = 0
    while asked < MOST_QUESTIONS and not cluster.rows(summary):
        cluster.upstream.reply({"text": f"Answer {asked}: two tides. " + "word " * 500}, times=1)
        user.send(f"Question {asked}")
        asked += 1
        expect(user.answers).to_have_count(asked)
        expect(user.answers.last).to_have_attribute("aria-busy", "false")
        cluster.wait_until(lambda: not cluster.rows(UNDER_WAY), "the compression")
    cluster.upstream.reply({"text": "Four tides."})
    user.send("How many tides?")
    user.expect_answer("Four tides.", index=asked)
    operator.look_up(reference_in_details(user))
    operator.follow("A summary was sent instead of the messages it covers")
    operator.reads(WRONG)


def test_a_worker_that_died(user: Reader, cluster: Cluster, operator: Operator) -> None:
    cluster.upstream.reply({"text": "Two "}, {"hang": True}, times=1)
    cluster.upstream.reply({"text": "Two tides."})
    user.send("How many?")
    user.expect_partial_answer("Two")
    cluster.kill(*WORKERS)
    cluster.worker("llm.1")
    user.expect_answer("Two tides.")
    operator.look_up(reference_in_details(user))
    operator.reads("Attempt 1 was followed by attempt 2", "dead worker")


def test_an_answer_that_took_too_long(user: Reader, cluster: Cluster, operator: Operator) -> None:
    cluster.kill(*WORKERS)
    cluster.upstream.reply({"hang": True})
    user.send("How many?")
    shorter = "UPDATE chat_run SET deadline = now() + interval '1 second' WHERE status = 'queued' RETURNING 1"
    cluster.wait_until(lambda: cluster.rows(shorter), "a queued run")
    cluster.worker("llm.1")
    start = reference_in_message(user)
    assert "longer than allowed" in start
    operator.look_up(start)
    operator.reads("Failed: The answer took longer than allowed.", "See below what took the time")
