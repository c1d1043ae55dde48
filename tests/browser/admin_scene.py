"""What staff look at in tests and pictures: alice's chats, with branches, tools, a summary, a failure; and its pages."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from playwright.sync_api import Browser, Page

from tests.browser.reader import Reader
from tests.stack import Stack
from tests.upstream import Upstream

LIMIT_S = 60
TIDES = (
    "The Moon pulls the near side of the Earth more than its centre, and the centre more than the far side. "
    "So the water bulges on both sides, and the Earth turns below two bulges: two tides a day."
)
SUN = "The Sun does the same, at less than half the strength: spring tides when it helps, neap tides when it does not."
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


@dataclass(frozen=True)
class Scene:
    """Addresses of admin pages, by what they show."""

    pages: dict[str, str]


class Alice:
    """By REST, with a token."""

    def __init__(self, http: httpx2.Client) -> None:
        self._http = http

    def post(self, path: str, **body: Any) -> Any:
        answer = self._http.post(path, json=body)
        assert answer.is_success, answer.text
        return answer.json()

    def get(self, path: str) -> Any:
        return self._http.get(path).json()

    def ask(self, session: str, text: str, **body: Any) -> Any:
        """Returns when all its runs have ended."""
        started = self.post(f"sessions/{session}/turns/", text=text, **body)
        limit = time.monotonic() + LIMIT_S
        for run in started["runs"]:
            while self.get(f"runs/{run['id']}/")["status"] in ("queued", "running", "stopping"):
                assert time.monotonic() < limit, f"still not answered: {text}"
                time.sleep(0.05)
        return started


def play(stack: Stack) -> Scene:
    """alice asks about tides, with an agent that researches; asks two models; changes a question; meets a failure."""
    headers = {"Authorization": f"Token {stack.manage('create_token', 'alice').strip()}"}
    with httpx2.Client(base_url=f"{stack.base_url}/api/", headers=headers, trust_env=False) as http:
        return _played(Alice(http), stack.upstream)


def _played(alice: Alice, upstream: Upstream) -> Scene:
    tools = ["current_time", "research_agent"]
    agent = alice.post("agents/", name="Researcher", prompt="Look things up.", tools=tools)
    session = alice.post("sessions/", title="Why two tides a day?", agent=agent["id"])["id"]
    upstream.reply({"reasoning": "What does the clock say?"}, _call("current_time", timezone="UTC"), times=1)
    upstream.reply({"text": "I look it up. "}, _call("research_agent", question="Why two tides?"), times=1)
    upstream.reply(_call("current_time", timezone="Asia/Tokyo"), times=1)
    upstream.reply({"text": "Two bulges, one on each side."}, times=1)
    upstream.reply(*({"text": f"{word} "} for word in TIDES.split()))
    first = alice.ask(session, "Why are there two tides a day, and not one?")
    upstream.reply({"text": SUN})
    alice.ask(session, "And the Sun?", models=["alpha", "beta"])
    alice.ask(session, "And other planets?", parent=first["runs"][0]["message"])
    last = alice.ask(session, "Which of them matters most?")
    upstream.reply({"status": 401}, times=1)
    failed = alice.ask(alice.post("sessions/", title="Pasta")["id"], "How long does pasta take?")
    return Scene(
        {
            "tree": f"chat/session/{session}/change/",
            "run": f"chat/run/{first['runs'][0]['id']}/change/",
            "failed": f"chat/run/{failed['runs'][0]['id']}/change/",
            "cycle": f"chat/run/{last['runs'][0]['id']}/change/",
            "usage": "usage/",
            "workers": "workers/",
            "sessions": "chat/session/",
            "runs": "chat/run/",
        }
    )


@contextmanager
def staff(browser: Browser, stack: Stack, **options: Any) -> Iterator[Reader]:
    """The page of `root`, logged in to the admin."""
    with Reader.at(browser, stack.base_url, **({"viewport": WIDE} | options)) as reader:
        reader.page.goto(f"{stack.base_url}/admin/")
        reader.page.get_by_label("Username").fill("root")
        reader.page.get_by_label("Password").fill("root")
        reader.page.get_by_role("button", name="Log in").click()
        reader.page.get_by_role("heading", name="Administration").wait_for()
        yield reader


def visit(page: Page, stack: Stack, address: str) -> None:
    page.goto(f"{stack.base_url}/admin/{address}")


def shoot(browser: Browser, stack: Stack, scene: Scene, folder: Path) -> None:
    """docs/screenshots: each page once, some on a phone and in the dark."""
    looks = (("", WIDE, "light"), ("-dark", WIDE, "dark"), ("-phone", PHONE, "light"))
    for suffix, viewport, scheme in looks:
        with staff(browser, stack, viewport=viewport, color_scheme=scheme) as reader:
            for name, address in scene.pages.items():
                if suffix and name not in ("tree", "run"):
                    continue
                visit(reader.page, stack, address)
                open_some(reader.page, name)
                reader.page.screenshot(path=folder / f"admin-{name}{suffix}.png")


def open_some(page: Page, name: str) -> None:
    """As a reader would: the requests of a run lead to one of them; a fold or two are opened."""
    if name == "cycle":
        page.get_by_role("link", name="cycle 1").first.click()
    for summary in page.locator(".tree details > summary").all()[:2]:
        summary.click()


def _call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"call": {"name": name, "arguments": arguments}}
