"""A real Chromium in front of the real stack. Without Chromium: skipped loudly, or failed when CI=true."""

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser import launching
from tests.browser.reader import Reader
from tests.stack import Stack


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    # Package and not session: while it is open, no asyncio loop can run in this thread.
    if launching.path() is None:
        assert os.environ.get("CI") != "true", f"none of {', '.join(launching.NAMES)} is installed"
        pytest.skip(f"none of {', '.join(launching.NAMES)} is installed: the page was NOT tested")
    with sync_playwright() as playwright:
        browser = launching.launched(playwright)
        yield browser
        browser.close()


@pytest.fixture
def reader(browser: Browser, stack: Stack) -> Iterator[Reader]:
    """alice, logged in, at an empty page. Afterwards: nothing was asked of other hosts, nothing went wrong unseen."""
    with Reader.at(browser, stack.base_url) as reader:
        reader.log_in("alice", "alice")
        reader.is_let_in()
        yield reader
        assert reader.strangers == []
        assert reader.complaints == []
