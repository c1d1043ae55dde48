"""Fixtures: Chromium with the real stack. Without Chromium the tests are skipped with a message, or fail if CI=true."""

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser import launching
from tests.browser.reader import Reader
from tests.browser.windows import PHONE, Windows
from tests.stack import Stack


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
def caller(windows: Windows, stack: Stack) -> Iterator[Reader]:
    """alice, with her phone."""
    with windows.borrowed("alice", **PHONE) as reader:
        yield reader
