"""Fixtures: Chromium with the real stack. Without Chromium the tests are skipped with a message, or fail if CI=true."""

import os
import sys
import threading
import traceback
from collections.abc import Generator, Iterator
from uuid import uuid4

import psycopg
import pytest
from django.contrib.auth.hashers import make_password
from playwright.sync_api import Browser, sync_playwright
from playwright.sync_api import Error as PlaywrightError

from tests import suites
from tests.browser import launching
from tests.browser.launching import Chromium
from tests.browser.reader import Reader
from tests.browser.windows import PHONE, Windows
from tests.stack import Stack

NEWCOMER = """
    INSERT INTO auth_user (username, password, is_active, is_staff, is_superuser, first_name, last_name, email, date_joined)
    VALUES (%s, %s, true, false, false, '', '', '', now())"""

# Characters of a page that a failed test prints.
MOST_SHOWN = 6_000


@pytest.fixture(scope="package")
def chromium() -> Iterator[Chromium]:
    # Package and not session: while it is open, no asyncio loop can run in this thread.
    if launching.path() is None:
        assert os.environ.get("CI") != "true", f"none of {', '.join(launching.NAMES)} is installed"
        pytest.skip(f"none of {', '.join(launching.NAMES)} is installed: the page was NOT tested")
    with sync_playwright() as playwright:
        chromium = Chromium(playwright)
        yield chromium
        chromium.close()


@pytest.fixture
def browser(chromium: Chromium) -> Browser:
    return chromium.running()


@pytest.fixture(autouse=True)
def time_limit(request: pytest.FixtureRequest, chromium: Chromium) -> Iterator[None]:
    """Past its limit, a test loses its browser, after the stack of every thread was printed."""
    seconds = suites.browser_limit(request.node)
    timer = threading.Timer(seconds, end_late, [chromium, seconds])
    timer.start()
    yield
    timer.cancel()


def end_late(chromium: Chromium, seconds: float) -> None:
    print(f"The time limit of {seconds} s is over:", file=sys.stderr)
    for thread, frame in sys._current_frames().items():
        print(f"Thread {thread}:", *traceback.format_stack(frame), sep="\n", file=sys.stderr)
    chromium.kill()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """With a failure, what the page showed then: the element that was waited for seldom tells why."""
    report = yield
    reader = getattr(item, "funcargs", {}).get("reader")
    if call.when == "call" and report.failed and reader is not None:
        try:
            shown = reader.page.locator("body").aria_snapshot(timeout=5_000)
        except PlaywrightError as error:
            shown = str(error)
        report.sections.append(("page", shown[-MOST_SHOWN:]))
        report.sections.append(("console", "\n".join(reader.errors)))
    return report


@pytest.fixture(scope="package")
def windows(chromium: Chromium, running_stack: Stack) -> Windows:
    return Windows(chromium, running_stack.base_url)


@pytest.fixture
def reader(windows: Windows, stack: Stack) -> Iterator[Reader]:
    """alice, logged in, at an empty page."""
    with windows.borrowed("alice") as reader:
        yield reader


@pytest.fixture
def newcomer(stack: Stack) -> str:
    """A user of this test alone, whose password is the name."""
    name = f"new{uuid4().hex[:8]}"
    with psycopg.connect(stack.environment["DATABASE_URL"]) as connection:
        connection.execute(NEWCOMER, [name, make_password(name)])
    return name


@pytest.fixture
def caller(windows: Windows, stack: Stack) -> Iterator[Reader]:
    """alice, with her phone."""
    with windows.borrowed("alice", **PHONE) as reader:
        yield reader


@pytest.fixture(scope="module")
def ingest(running_stack: Stack) -> Iterator[None]:
    """The process that reads uploads."""
    running_stack.start("ingest")
    yield
    running_stack.end("ingest")
