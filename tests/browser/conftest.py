"""Fixtures: Chromium with the real stack. Without Chromium the tests are skipped with a message, or fail if CI=true."""

import os
from collections.abc import Iterator
from uuid import uuid4

import psycopg
import pytest
from django.contrib.auth.hashers import make_password
from playwright.sync_api import Browser, sync_playwright

from tests.browser import launching
from tests.browser.reader import Reader
from tests.browser.windows import PHONE, Windows
from tests.stack import Stack

NEWCOMER = """
    INSERT INTO auth_user (username, password, is_active, is_staff, is_superuser, first_name, last_name, email, date_joined)
    VALUES (%s, %s, true, false, false, '', '', '', now())"""


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    # Package and not session: while it is open, no asyncio loop can run in this thread.
    if launching.path() is None:
        assert os.environ.get("CI") != "true", f"none of {', '.join(launching.NAMES)} is installed"
        pytest.skip(f"none of {', '.join(launching.NAMES)} is installed: the page was NOT tested")
    with sync_playwright() as playwright:
        browser = launching.launch_chromium(playwright)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def windows(browser: Browser, running_stack: Stack) -> Windows:
    return Windows(browser, running_stack.base_url)


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
    process = running_stack.processes.pop("ingest")
    process.terminate()
    process.wait(60)
