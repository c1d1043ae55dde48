"""HTTP for the SDK over aiohttp, and bodies that are read as they come, with everything that has come at once.

It keeps connections for the next request and knows nothing of models; a body closed early closes its connection.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Final, cast
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx2

from llm_worker.upstream.windowed_reads import WindowedReads

CONNECT_TIMEOUT_S: Final = 10.0
# As long as the SDK's own transports keep one.
KEEPALIVE_S: Final = 5.0
# How long the end of a body is waited for once everything in it has come.
END_OF_BODY_S: Final = 0.05
# Where a response's body is found among its extensions.
BODY: Final = "body"
# aiohttp has decoded it.
DECODED: Final = frozenset({b"content-encoding", b"content-length"})


class AiohttpTransport(httpx2.AsyncBaseTransport):
    """Lives on one event loop. Raises aiohttp.ClientError, and httpx2.ReadTimeout after `silence_s` without a byte.

    Making it raises httpx2.InvalidURL.
    """

    def __init__(self, base_url: str, connections: int, silence_s: float) -> None:
        self._silence_s = silence_s
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=connections, keepalive_timeout=KEEPALIVE_S, ssl=httpx2.create_ssl_context()
            ),
            # aiohttp would set a timer anew for every piece of a body; silence is ours to watch.
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT_S),
            cookie_jar=aiohttp.DummyCookieJar(),
            proxy=_proxy(base_url),
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            async with asyncio.timeout(self._silence_s):
                answered = await self._session.request(
                    request.method,
                    str(request.url),
                    # Not multi_items(), which looks for their encoding anew for each.
                    headers=[
                        (name.decode("ascii"), value.decode("latin-1")) for name, value in request.headers.raw
                    ],
                    data=request.content,
                    allow_redirects=False,
                )
        except TimeoutError as error:
            raise httpx2.ReadTimeout("no answer") from error
        body = ResponseBody(answered, self._silence_s)
        return httpx2.Response(
            answered.status,
            headers=[(name, value) for name, value in answered.raw_headers if name.lower() not in DECODED],
            stream=body,
            extensions={BODY: body},
        )

    async def aclose(self) -> None:
        await self._session.close()


class ResponseBody(httpx2.AsyncByteStream):
    def __init__(self, answered: aiohttp.ClientResponse, silence_s: float) -> None:
        self._answered = answered
        self._content = answered.content
        self._gathering = WindowedReads.for_response(answered)
        self._silence_s = silence_s
        self._waiting: asyncio.Future[None] | None = None
        self._content.on_eof(self._wake)

    async def read(self) -> bytes:
        """Everything that has come, or comes next; empty at the end. What is not read is held back at the server."""
        content = self._content
        # At its end the connection may serve another response already.
        gathering = None if content.is_eof() else self._gathering
        if gathering:
            gathering.take_in()
        if (come := content.read_nowait()) or content.at_eof():
            return come
        if gathering:
            gathering.listen()
        try:
            async with asyncio.timeout(self._silence_s):
                return await content.readany()
        except TimeoutError as error:
            raise httpx2.ReadTimeout("silence") from error
        except RuntimeError as error:
            # What aiohttp says once it has closed a connection whose bytes were no HTTP.
            raise aiohttp.ClientPayloadError(str(error)) from error

    async def wait(self, until: asyncio.Future[None]) -> None:
        """Return when `until` is done. What comes meanwhile is gathered; where it is not, the end does not wait."""
        if not until.done() and not self._content.is_eof():
            if self._gathering:
                self._gathering.begin()
            self._waiting = until
            await until

    async def read_to_the_end(self) -> None:
        """After all that matters: only at its end can the connection be used again. It may as well break."""
        with suppress(TimeoutError, httpx2.HTTPError, aiohttp.ClientError):
            async with asyncio.timeout(END_OF_BODY_S):
                while await self.read():
                    pass

    def _wake(self) -> None:
        if self._waiting and not self._waiting.done():
            self._waiting.set_result(None)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while piece := await self.read():
            yield piece

    async def aclose(self) -> None:
        self._answered.release()


def _proxy(base_url: str) -> str | None:
    """From HTTP_PROXY and its like, once: aiohttp would ask the environment in threads, twice for every request."""
    place = httpx2.URL(base_url)
    proxies = getproxies()
    if proxy_bypass(place.host):
        return None
    return proxies.get(place.scheme) or proxies.get("all")


def body_of(response: httpx2.Response) -> ResponseBody:
    """Of a response that came through a Transport."""
    return cast("ResponseBody", response.extensions[BODY])
