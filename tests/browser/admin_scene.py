"""The data of admin tests and screenshots: alice's chats with branches, tools, a summary and a failure; and its pages."""

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
# Pages without a screenshot; only tests visit them.
WITHOUT_SCREENSHOT = ("failed", "runs", "files", "file", "broken", "project")
# A project of alice with two files, of which one could not be read, and a session; prints their ids.
FILES = """
from django.contrib.auth import get_user_model
from chat.models import Session
from knowledge.models import Extraction, File, FileKind, Project
alice = get_user_model().objects.get(username="alice")
project = Project.objects.create(owner=alice, name="Tides of Hamburg", instructions="Name the Moon.")
Session.objects.start(alice, title="When is low water?", project=project)
given = {"owner": alice, "project": project, "size_bytes": 48_211}
file, broken = (File.objects.create(name=name, **given) for name in ("tide-table-2026.txt", "harbour.pdf"))
text = "".join(f"Day {day}: low water at {day % 12}:{day % 60:02}, {day % 7} dm\\n" for day in range(1, 400))
File.objects.claim(file.pk).end_ready(Extraction(FileKind.TEXT, "text/plain", text, len(text) // 3))
File.objects.claim(broken.pk).end_failed("document_encrypted")
print(project.pk, file.pk, broken.pk)
"""
TALL_PX = 1300
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


@dataclass(frozen=True)
class Scene:
    """URLs of admin pages, by what they show."""

    pages: dict[str, str]


class Alice:
    """REST client of the user alice."""

    def __init__(self, http: httpx2.Client) -> None:
        self._http = http

    def post(self, path: str, **body: Any) -> Any:
        answer = self._http.post(path, json=body)
        assert answer.is_success, answer.text
        return answer.json()

    def get(self, path: str) -> Any:
        return self._http.get(path).json()

    def ask(self, session: str, text: str, **body: Any) -> Any:
        """Start a turn and wait until all its runs have ended and are announced."""
        started = self.post(f"sessions/{session}/turns/", text=text, **body)
        limit = time.monotonic() + LIMIT_S
        for run in started["runs"]:
            while self.get(f"runs/{run['id']}/")["announced_at"] is None:
                assert time.monotonic() < limit, f"still not answered: {text}"
                time.sleep(0.05)
        return started


def play(stack: Stack, pace_s: float = 0) -> Scene:
    """alice asks about tides, with an agent that researches; asks two models; changes a question; meets a failure.

    pace_s: between the words of the first answer.
    """
    headers = {"Authorization": f"Token {stack.manage('create_token', 'alice').strip()}"}
    with httpx2.Client(base_url=f"{stack.base_url}/api/", headers=headers, trust_env=False) as http:
        scene = _play_with(Alice(http), stack.upstream, pace_s)
    project, file, broken = stack.manage("shell", "-v", "0", "-c", FILES).split()[-3:]
    of_files = {
        "files": "knowledge/file/",
        "file": f"knowledge/file/{file}/change/",
        "broken": f"knowledge/file/{broken}/change/",
        "project": f"knowledge/project/{project}/change/",
    }
    return Scene(scene.pages | of_files)


def _play_with(alice: Alice, upstream: Upstream, pace_s: float) -> Scene:
    tools = ["current_time", "research_agent"]
    agent = alice.post("agents/", name="Researcher", prompt="Look things up.", tools=tools)
    session = alice.post("sessions/", title="Why two tides a day?", agent=agent["id"])["id"]
    pause = {"pause_s": 5 * pace_s}
    thought = [{"reasoning": word} for word in ("What ", "does ", "the ", "clock ", "say?")]
    upstream.reply(pause, *_paced(thought, pace_s), _call("current_time", timezone="UTC"), times=1)
    upstream.reply(
        pause, {"text": "I look it up. "}, pause, _call("research_agent", question="Why two tides?"), times=1
    )
    upstream.reply(pause, _call("current_time", timezone="Asia/Tokyo"), times=1)
    upstream.reply(pause, {"text": "Two bulges, one on each side."}, times=1)
    upstream.reply(*_paced([{"text": f"{word} "} for word in TIDES.split()], pace_s), times=1)
    upstream.reply({"status": 401}, contains="pasta")
    first = alice.ask(session, "Why are there two tides a day, and not one?")
    upstream.reply({"text": SUN})
    alice.ask(session, "And the Sun?", models=["alpha", "beta"])
    alice.ask(session, "And other planets?", parent=first["runs"][0]["message"])
    last = alice.ask(session, "Which of them matters most?")
    failed = alice.ask(alice.post("sessions/", title="Pasta")["id"], "How long does pasta take?")
    return Scene(
        {
            "tree": f"chat/session/{session}/change/",
            "run": f"chat/run/{first['runs'][0]['id']}/change/",
            "failed": f"chat/run/{failed['runs'][0]['id']}/change/",
            "cycle": f"chat/run/{last['runs'][0]['id']}/change/",
            "usage": "usage/",
            "workers": "workers/",
            "search": 'chat/session/?q="neap tides"',
            "runs": "chat/run/",
        }
    )


@contextmanager
def staff(browser: Browser, stack: Stack, **options: Any) -> Iterator[Reader]:
    """The page of `root`, logged in to the admin."""
    with Reader.at(browser, stack.base_url, **({"viewport": WIDE} | options)) as reader:
        reader.page.goto(f"{stack.base_url}/admin/")
        reader.fill_in("root", "root")
        reader.page.get_by_role("heading", name="Administration").wait_for()
        yield reader


def visit(page: Page, stack: Stack, address: str) -> None:
    page.goto(f"{stack.base_url}/admin/{address}")


def shoot(browser: Browser, stack: Stack, scene: Scene, folder: Path) -> None:
    """Write the screenshots of docs/screenshots: each page, some also in a phone's size and in the dark theme."""
    looks = (("", WIDE, "light"), ("-dark", WIDE, "dark"), ("-phone", PHONE, "light"))
    for suffix, viewport, scheme in looks:
        with staff(browser, stack, viewport=viewport, color_scheme=scheme) as reader:
            for name, address in scene.pages.items():
                if name in WITHOUT_SCREENSHOT or (suffix and name not in ("tree", "run")):
                    continue
                visit(reader.page, stack, address)
                open_some(reader.page, name)
                reader.page.wait_for_load_state()
                # The tree is taller than a screen.
                tall = {
                    "width": viewport["width"],
                    "height": TALL_PX if name == "tree" else viewport["height"],
                }
                reader.page.set_viewport_size(tall)
                reader.page.evaluate("scrollTo(0, 0)")
                reader.page.screenshot(path=folder / f"admin-{name}{suffix}.png")


def open_some(page: Page, name: str) -> None:
    """Follow the link to one of a run's requests, and open one or two folded parts."""
    if name == "cycle":
        with page.expect_navigation():
            page.get_by_role("link", name="cycle 1").first.click()
    for fold in (".tree .calls > li:last-child > details > summary", ".tree .fork > details > summary"):
        for summary in page.locator(fold).all()[:1]:
            summary.click()


def _paced(steps: list[dict[str, Any]], pace_s: float) -> list[dict[str, Any]]:
    return [one for step in steps for one in ({"pause_s": pace_s}, step)] if pace_s else steps


def _call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"call": {"name": name, "arguments": arguments}}
