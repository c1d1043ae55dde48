"""httpx2's client as the SDK is given it: where requests go, and what all of them say, is put together once.

Only plain requests take the short way: content and headers, and no cookies from earlier answers.
"""

from typing import Any, Final

import httpx2

# The transport's business (transport.py).
NO_TIMEOUT: Final = httpx2.Timeout(None)
# What httpx2 adds to the headers of the SDK.
COMMON: Final = (("Connection", "keep-alive"),)


class HttpClient(httpx2.AsyncClient):
    def __init__(self, transport: httpx2.AsyncBaseTransport) -> None:
        super().__init__(transport=transport, timeout=NO_TIMEOUT, follow_redirects=True)
        self._places: dict[str, httpx2.URL] = {}

    def build_request(self, method: str, url: httpx2.URL | str, **given: Any) -> httpx2.Request:
        """As httpx2's. given: of its parameters, those that the SDK uses."""
        others = {
            name: value for name, value in given.items() if name not in {"headers", "content", "timeout"}
        }
        if any(others.values()) or self.cookies:
            return super().build_request(method, url, **given)
        return httpx2.Request(
            method,
            self._place(url),
            headers=[*COMMON, *given["headers"]],
            content=given.get("content"),
            extensions={"timeout": NO_TIMEOUT.as_dict()},
        )

    def _place(self, url: httpx2.URL | str) -> httpx2.URL:
        text = str(url)
        if text not in self._places:
            self._places[text] = httpx2.URL(text)
        return self._places[text]
