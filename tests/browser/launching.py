"""Starts the machine's Chromium for tests and screenshots."""

import shutil

from playwright.sync_api import Browser, Playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
SECOND_NAME = "preview.test"
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-proxy-server",
    # Requests to other hosts fail, except to a second name of this machine.
    f"--host-resolver-rules=MAP {SECOND_NAME} 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]


def path() -> str | None:
    """Return the path of Chromium; None if there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def launch_chromium(playwright: Playwright) -> Browser:
    """Start Chromium headless, unable to reach other hosts."""
    return playwright.chromium.launch(executable_path=path(), args=ARGUMENTS)
