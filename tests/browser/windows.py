"""Browser contexts that are reused between tests: a new one costs seconds of processor time, a page in a used one, whose
cache has the scripts, a tenth of that. Each test receives an empty page without state of earlier tests.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.browser.launching import Chromium
from tests.browser.reader import Reader

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


class Windows:
    """Free windows, by device and theme."""

    def __init__(self, chromium: Chromium, base_url: str) -> None:
        self._chromium = chromium
        self._base_url = base_url
        self._free: dict[str, list[Reader]] = {}

    @contextmanager
    def borrowed(self, name: str, **look: object) -> Iterator[Reader]:
        """Yield a logged-in user's page. On exit, assert that it made no foreign request and logged no error."""
        browser = self._chromium.running()
        free = self._free.setdefault(repr(look), [])
        # Those of a browser that was killed are of no use.
        free[:] = [reader for reader in free if reader.context.browser is browser]
        reader = free.pop() if free else Reader(browser.new_context(**look), self._base_url)
        try:
            reader.log_in_by_cookie(name)
            yield reader
            reader.leave()
        except BaseException:
            reader.context.close()
            raise
        noted, reader.foreign_requests, reader.errors = (reader.foreign_requests, reader.errors), [], []
        free.append(reader)
        assert noted == ([], [])
