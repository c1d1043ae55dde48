"""The httpx2 client of the SDK, with a fast path for building requests: parsed URLs and common headers are reused.

Only requests with nothing but content and headers take the fast path, and only while there are no cookies.
"""

from typing import Any, Final

import httpx2

# Timeouts are enforced by transport.py.
NO_TIMEOUT: Final = httpx2.Timeout(None)
# Headers that httpx2 adds to those of the SDK.
COMMON: Final = (("Connection", "keep-alive"),)


class HttpClient(httpx2.AsyncClient):
    """A client that follows no redirects: the transport does, with the body and only to the same host."""

    def __init__(self, transport: httpx2.AsyncBaseTransport) -> None:
        super().__init__(transport=transport, timeout=NO_TIMEOUT, follow_redirects=False)
        self._urls: dict[str, httpx2.URL] = {}

    def build_request(self, method: str, url: httpx2.URL | str, **given: Any) -> httpx2.Request:
        """Build a request, on the fast path if possible. given: the parameters of httpx2 that the SDK uses."""
        others = {
            name: value for name, value in given.items() if name not in {"headers", "content", "timeout"}
        }
        if any(others.values()) or self.cookies:
            return super().build_request(method, url, **given)
        return httpx2.Request(
            method,
            self._parsed(url),
            headers=[*COMMON, *given["headers"]],
            content=given.get("content"),
            extensions={"timeout": NO_TIMEOUT.as_dict()},
        )

    def _parsed(self, url: httpx2.URL | str) -> httpx2.URL:
        text = str(url)
        if text not in self._urls:
            self._urls[text] = httpx2.URL(text)
        return self._urls[text]
