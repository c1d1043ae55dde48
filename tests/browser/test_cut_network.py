"""The network between browser and server is cut and restored at random while runs write: nothing is lost or doubled."""

import random
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.reader import Reader
from tests.faults.proxy import TO_CLIENT, TO_SERVER, Proxy
from tests.seeds import seed_of
from tests.stack import Stack
from tests.upstream_steps import last_user_text

pytestmark = [pytest.mark.browser, pytest.mark.fault, pytest.mark.timeout(600)]

TABS = 6
MODELS = ["alpha", "beta", "gamma"]
ROUNDS = 3
PIECES = 30

SHOWN = """(number) => [...document.querySelectorAll("article.answer .body")].map(({ textContent }) => textContent)
  .filter((text) => text.includes(` ${number}-`))"""
# Drawn anew from what is stored.
DRAWN = """async (texts) => {
  const { MarkdownView } = await import("/static/chat/markdown/markdown.js");
  return texts.map((text) => {
    const element = document.createElement("div");
    new MarkdownView(element).show(text);
    return element.textContent;
  });
}"""


class Direct:
    """alice's REST client, which does not use the broken network."""

    def __init__(self, reader: Reader, base_url: str) -> None:
        self.request = reader.page.request
        self.base_url = base_url
        (self.token,) = [each["value"] for each in reader.context.cookies() if each["name"] == "csrftoken"]

    def post(self, path: str, body: dict[str, Any]) -> Any:
        answer = self.request.post(
            f"{self.base_url}/api/{path}", data=body, headers={"X-CSRFToken": self.token}
        )
        assert answer.ok, answer.text()
        return answer.json()

    def get(self, path: str) -> Any:
        answer = self.request.get(f"{self.base_url}/api/{path}")
        assert answer.ok, answer.text()
        return answer.json()

    def stored(self, turn: dict[str, Any]) -> list[tuple[str, str]]:
        """Status and text of a turn's answers."""
        found = []
        for run in turn["runs"]:
            (message,) = self.get(f"sessions/{turn['session']}/messages/?leaf={run['message']}&limit=1")
            found.append((message["status"], message["text"]))
        return found


@pytest.fixture
def proxy(stack: Stack) -> Iterator[Proxy]:
    with Proxy.before(stack.base_url) as proxy:
        yield proxy


def test_after_any_cuts_the_page_shows_what_is_stored(browser: Browser, stack: Stack, proxy: Proxy) -> None:
    seed = seed_of("CUT_SEED")
    print(f"CUT_SEED={seed}, {TABS * ROUNDS * len(MODELS)} runs")
    chance = random.Random(seed)
    stack.upstream.reply_by(answer)
    with Reader.at(browser, proxy.url) as reader:
        reader.log_in("alice", "alice")
        reader.wait_until_ready()
        direct = Direct(reader, stack.base_url)
        tabs = {direct.post("sessions/", {"title": f"{n}"})["id"]: tab(reader, n) for n in range(TABS)}
        for session, page in tabs.items():
            page.goto(f"{proxy.url}/#{session}")
        for number in range(ROUNDS):
            asked = {session: ask(direct, session, number) for session in tabs}
            break_a_few_times(reader.page, proxy, chance)
            for session, page in tabs.items():
                agrees(page, direct, asked[session], number)
        assert reader.foreign_requests == []


def tab(reader: Reader, number: int) -> Page:
    return reader.page if number == 0 else reader.context.new_page()


def ask(direct: Direct, session: str, number: int) -> dict[str, Any]:
    turn = direct.post(f"sessions/{session}/turns/", {"text": f"Count {number}", "models": MODELS})
    return {**turn, "session": session}


def answer(body: dict[str, Any]) -> list[dict[str, object]]:
    """Unique words with markup across chunks, at about the speed of a model."""
    number = re.findall(r"Count (\d+)", last_user_text(body))[-1]
    steps: list[dict[str, object]] = []
    for piece in range(PIECES):
        text = f" {number}-{piece} by *{body['model']} a*nd `c{piece}` " + "\n\n" * (piece % 7 == 0)
        steps += [{"text": text}, {"pause_s": 0.04}]
    return steps


def agrees(page: Page, direct: Direct, turn: dict[str, Any], number: int) -> None:
    """Return once the page shows everything that the turn has produced."""
    last = page.locator("article.answer[aria-busy=false] .body", has_text=f" {number}-{PIECES - 1} by")
    expect(last).to_have_count(len(MODELS))
    stored = direct.stored(turn)
    assert [status for status, _ in stored] == ["completed"] * len(MODELS), stored
    drawn = page.evaluate(DRAWN, [text for _, text in stored])
    assert sorted(page.evaluate(SHOWN, number)) == sorted(drawn)


def break_a_few_times(page: Page, proxy: Proxy, chance: random.Random) -> None:
    for _ in range(chance.randint(2, 4)):
        page.wait_for_timeout(chance.randint(50, 500))
        breaking = {
            "reset": proxy.reset,
            "storm": lambda: storm(page, proxy, chance),
            "refuse": lambda: (proxy.refuse(), proxy.reset()),
            "silence": proxy.blackhole,
            "silence one way": lambda: proxy.blackhole(chance.choice([TO_SERVER, TO_CLIENT])),
            "late": lambda: proxy.delay(chance.random() / 4),
        }
        breaking[chance.choice(list(breaking))]()
        page.wait_for_timeout(chance.randint(50, 600))
        if chance.random() < 0.5:
            proxy.reset()
        proxy.heal()


def storm(page: Page, proxy: Proxy, chance: random.Random) -> None:
    """Every connection is cut before a response is complete."""
    for _ in range(20):
        proxy.reset()
        page.wait_for_timeout(chance.randint(5, 80))
