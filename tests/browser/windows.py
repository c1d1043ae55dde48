"""Windows that stay open from test to test: a new one costs seconds of processor, a page in one that knows our scripts
a tenth of that. Whoever takes one finds an empty page and nothing of whoever had it before.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser

from tests.browser.reader import Reader

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


class Windows:
    """Free windows, by device and theme."""

    def __init__(self, browser: Browser, base_url: str) -> None:
        self._browser = browser
        self._base_url = base_url
        self._free: dict[str, list[Reader]] = {}

    @contextmanager
    def taken_by(self, name: str, **look: object) -> Iterator[Reader]:
        """Somebody at the page, let in by a cookie. Afterwards: nothing was asked of other hosts, nothing went wrong
        unseen."""
        free = self._free.setdefault(repr(look), [])
        reader = free.pop() if free else Reader(self._browser.new_context(**look), self._base_url)
        try:
            reader.come_in(name)
            yield reader
            reader.leave()
        except BaseException:
            reader.context.close()
            raise
        said, reader.strangers, reader.complaints = (reader.strangers, reader.complaints), [], []
        free.append(reader)
        assert said == ([], [])
