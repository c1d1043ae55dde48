"""Starts the machine's Chromium for tests and screenshots."""

import shutil

import psutil
from playwright.sync_api import Browser, Playwright

# The headless shell first: the same engine without the browser's own surface, which takes ten times the processor for each new window
# (Debian's Chromium 156: 0.87 s, and 0.08 s).
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
SECOND_NAME = "preview.test"
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-proxy-server",
    # As the whole browser does: a frame that hangs must not stop the page.
    "--site-per-process",
    # Older versions (150) obey the header Connection-Allowlist only in an origin trial; 156 obeys it always.
    "--enable-features=OverrideConnectionAllowlistOriginTrial",
    # Requests to other hosts fail, except to a second name of this machine.
    f"--host-resolver-rules=MAP {SECOND_NAME} 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]


def path() -> str | None:
    """Return the path of Chromium; None if there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def launch_chromium(playwright: Playwright) -> Browser:
    """Start Chromium headless, unable to reach other hosts."""
    return playwright.chromium.launch(executable_path=path(), args=ARGUMENTS)


class Chromium:
    """The Chromium of a test process, started again after it was killed."""

    def __init__(self, playwright: Playwright) -> None:
        self._playwright = playwright
        self._browser: Browser | None = None

    def running(self) -> Browser:
        if self._browser is None:
            self._browser = launch_chromium(self._playwright)
        return self._browser

    def kill(self) -> None:
        """End it, from any thread: the call that waits for it raises, and the next test starts another one.

        An exception that a signal raises within Playwright's event loop would end the loop, and with it all later tests.
        """
        self._browser = None
        for process in psutil.Process().children(recursive=True):
            if process.name().startswith("chrom"):
                process.kill()

    def close(self) -> None:
        if self._browser is not None:
            self._browser.close()
