"""httpx2 transport over aiohttp for the SDK, with response bodies that return all received bytes with each read.

Pools connections; closing a body early closes its connection. Knows nothing of models.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Final, cast
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx2

from llm_worker.upstream.guarded_resolver import provider_connector
from llm_worker.upstream.redirects import REDIRECTED

CONNECT_TIMEOUT_S: Final = 10.0
# As in the SDK's default transports.
KEEPALIVE_S: Final = 5.0
# How long to wait for the end of a body after [DONE].
END_OF_BODY_S: Final = 0.05
# Redirects that keep method and body. Proxies that require https answer with 301.
REDIRECTS: Final = frozenset({301, 307, 308})
MAX_REDIRECTS: Final = 3
# Limits for reading the body of an error response: it is a text, whatever the server sends.
MAX_ERROR_BYTES: Final = 64 * 1024
ERROR_BODY_S: Final = 5.0
# Name of the response extension that holds the body.
BODY: Final = "body"
# Headers that no longer apply, since aiohttp has decoded the body.
DECODED: Final = frozenset({b"content-encoding", b"content-length"})


class AiohttpTransport(httpx2.AsyncBaseTransport):
    """A transport bound to one event loop.

    Raises aiohttp.ClientError, and httpx2.ReadTimeout after `silence_s` without a byte. The constructor raises
    httpx2.InvalidURL.
    """

    def __init__(
        self, base_url: str, connections: int, silence_s: float, *, is_guarded: bool = False
    ) -> None:
        """Create the session. Requests to a guarded server follow no redirect."""
        self._silence_s = silence_s
        self._most_redirects = 0 if is_guarded else MAX_REDIRECTS
        new_connector = provider_connector if is_guarded else aiohttp.TCPConnector
        self._session = aiohttp.ClientSession(
            connector=new_connector(
                limit=connections, keepalive_timeout=KEEPALIVE_S, ssl=httpx2.create_ssl_context()
            ),
            # No read timeout: aiohttp would reset a timer for every piece of a body. ResponseBody.read() enforces it.
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT_S),
            cookie_jar=aiohttp.DummyCookieJar(),
            proxy=proxy_of(base_url),
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            async with asyncio.timeout(self._silence_s):
                answered, moved_to = await self._send(request, str(request.url)), ""
                for _ in range(self._most_redirects):
                    if answered.status not in REDIRECTS:
                        break
                    if not (
                        target := redirect_target(str(answered.url), answered.headers.get("location", ""))
                    ):
                        break
                    answered.release()
                    answered, moved_to = await self._send(request, target), target
        except TimeoutError as error:
            raise httpx2.ReadTimeout("no answer") from error
        body = (ResponseBody if answered.status < 400 else _ErrorBody)(answered, self._silence_s)
        return httpx2.Response(
            answered.status,
            headers=[(name, value) for name, value in answered.raw_headers if name.lower() not in DECODED],
            stream=body,
            extensions={BODY: body, REDIRECTED: moved_to},
        )

    async def aclose(self) -> None:
        await self._session.close()

    async def _send(self, request: httpx2.Request, url: str) -> aiohttp.ClientResponse:
        return await self._session.request(
            request.method,
            url,
            # Not multi_items(), which detects the encoding for each header.
            headers=[
                (name.decode("ascii"), value.decode("latin-1"))
                for name, value in request.headers.raw
                if name.lower() != b"host" or url == str(request.url)
            ],
            data=request.content,
            allow_redirects=False,
        )


class ResponseBody(httpx2.AsyncByteStream):
    def __init__(self, answered: aiohttp.ClientResponse, silence_s: float) -> None:
        self._answered = answered
        self._content = answered.content
        self._windowed_reads = WindowedReads.for_response(answered)
        self._silence_s = silence_s
        self._waiting: asyncio.Future[None] | None = None
        self._closed: asyncio.Future[None] | None = None
        self._content.on_eof(self._on_eof)
        self._break_off_with(answered.connection)

    async def read(self) -> bytes:
        """Return all bytes received so far, or the next ones; empty at the end. Unread bytes hold the server back."""
        content = self._content
        # After the end of the body the connection may serve another response already.
        windowed_reads = None if content.is_eof() else self._windowed_reads
        if windowed_reads:
            windowed_reads.read_gathered()
        if (received := content.read_nowait()) or content.at_eof():
            return received
        if windowed_reads:
            windowed_reads.resume()
        try:
            async with asyncio.timeout(self._silence_s):
                return await content.readany()
        except TimeoutError as error:
            raise httpx2.ReadTimeout("silence") from error
        except RuntimeError as error:
            # Raised by aiohttp after it closed a connection whose bytes were not HTTP.
            raise aiohttp.ClientPayloadError(str(error)) from error

    async def wait(self, until: asyncio.Future[None]) -> None:
        """Return when `until` is done, or at the end of the body. Without TLS, bytes wait in the kernel meanwhile."""
        if not until.done() and not self._content.is_eof():
            if self._windowed_reads:
                self._windowed_reads.pause()
            self._waiting = until
            await until

    async def read_to_the_end(self) -> None:
        """Read the rest after [DONE]: the connection is reusable only at the end of the body. Errors are ignored."""
        with suppress(TimeoutError, httpx2.HTTPError, aiohttp.ClientError):
            async with asyncio.timeout(END_OF_BODY_S):
                while await self.read():
                    pass

    def _break_off_with(self, connection: aiohttp.connector.Connection | None) -> None:
        """End a pending read when the connection is gone.

        aiohttp closes a connection whose bytes are not HTTP, but leaves a read that waits for the next byte waiting.
        """
        # Not `not protocol`: it is a queue, and false while it is empty.
        if (
            connection is None
            or connection.protocol is None
            or (closed := connection.protocol.closed) is None
        ):
            return
        # Once for all responses of the connection.
        closed.remove_done_callback(_mark_as_seen)
        closed.add_done_callback(_mark_as_seen)
        closed.add_done_callback(self._break_off)
        self._closed = closed

    def _break_off(self, _closed: asyncio.Future[None]) -> None:
        if not self._content.is_eof() and self._content.exception() is None:
            self._content.set_exception(aiohttp.ClientPayloadError("the connection is lost"))

    def _on_eof(self) -> None:
        if self._closed:
            self._closed.remove_done_callback(self._break_off)
        self._wake()

    def _wake(self) -> None:
        if self._waiting and not self._waiting.done():
            self._waiting.set_result(None)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while piece := await self.read():
            yield piece

    async def aclose(self) -> None:
        self._answered.release()


def _mark_as_seen(closed: asyncio.Future[None]) -> None:
    """Retrieve the exception of a future: asyncio logs one that nobody has seen."""
    if not closed.cancelled():
        closed.exception()


class _ErrorBody(ResponseBody):
    """The beginning of the body of an error response; the status counts, even if the body does not come."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left, until = MAX_ERROR_BYTES, asyncio.get_running_loop().time() + ERROR_BODY_S
        with suppress(TimeoutError, httpx2.HTTPError, aiohttp.ClientError):
            while left > 0 and (piece := await self._read_until(until)):
                left -= len(piece)
                yield piece

    async def _read_until(self, until: float) -> bytes:
        async with asyncio.timeout_at(until):
            return await self.read()


def redirect_target(url: str, location: str) -> str:
    """Return where a redirected request goes, with its key; empty if the redirect is not followed.
    It is followed only at the same scheme, host and port, or from http to https of the same host.
    """
    try:
        here = httpx2.URL(url)
        there = here.join(location)
    except httpx2.InvalidURL:
        return ""
    if not location or here.host != there.host:
        return ""
    is_same = (here.scheme, _port(here)) == (there.scheme, _port(there))
    is_secured = (here.scheme, there.scheme) == ("http", "https") and _port(there) in (443, _port(here))
    return str(there) if is_same or is_secured else ""


def _port(url: httpx2.URL) -> int:
    return url.port or (443 if url.scheme == "https" else 80)


def proxy_of(base_url: str) -> str | None:
    """Return the proxy that HTTP_PROXY etc. name, read once.
    aiohttp would read the environment in threads, twice for every request.
    """
    place = httpx2.URL(base_url)
    proxies = getproxies()
    if proxy_bypass(place.host):
        return None
    return proxies.get(place.scheme) or proxies.get("all")


def body_of(response: httpx2.Response) -> ResponseBody:
    """Return the body of a response of an AiohttpTransport."""
    return cast("ResponseBody", response.extensions[BODY])


def new_http_client(transport: httpx2.AsyncBaseTransport) -> httpx2.AsyncClient:
    """Return a client that follows no redirects: the transport does, with the body and only to the same host."""
    # Timeouts are enforced by the transport.
    client = httpx2.AsyncClient(transport=transport, timeout=None, follow_redirects=False)
    # aiohttp adds the encodings that it decodes.
    del client.headers["Accept-Encoding"]
    return client


# Many windows of tokens. If a server sends more in one window, the transport reads it and applies back-pressure.
PIECE_BYTES: Final = 64 * 1024


class WindowedReads:
    """The reads of one response, on its event loop; must not be used after the end of the response.

    A streamed answer is read once per flush window; between reads its bytes wait in the kernel's socket buffer. An event
    loop that wakes for every token of a hundred streams spends more on waking than on the tokens. Under load the
    response's transport is paused; when a window opens, its socket is read once and the bytes are passed to the
    transport's protocol, as the transport itself would do.
    """

    def __init__(self, transport: asyncio.Transport, protocol: asyncio.Protocol) -> None:
        self._transport = transport
        self._protocol = protocol
        self._descriptor = transport.get_extra_info("socket").fileno()
        self._is_gathering = False
        self._is_fast = False

    @classmethod
    def for_response(cls, answered: aiohttp.ClientResponse) -> "WindowedReads | None":
        """Return the reads of a response; None if it is complete, or with TLS: the socket holds encrypted bytes."""
        connection = answered.connection
        if connection is None or connection.transport is None or connection.protocol is None:
            return None
        if connection.transport.get_extra_info("sslcontext"):
            return None
        return cls(connection.transport, connection.protocol)

    def pause(self) -> None:
        """Stop the transport from reading, unless the previous read was full."""
        if self._is_fast:
            self._is_fast = False
        else:
            self._transport.pause_reading()
            self._is_gathering = True

    def read_gathered(self) -> None:
        """Read the socket once."""
        # The descriptor of a closing transport may be reused already.
        if not self._is_gathering or self._transport.is_closing():
            return
        self._is_gathering = False
        try:
            come = os.read(self._descriptor, PIECE_BYTES)
        except OSError:
            return  # nothing received; or the connection is broken, which the transport reports
        self._is_fast = len(come) == PIECE_BYTES
        if come:
            self._protocol.data_received(come)

    def resume(self) -> None:
        """Let the transport read again: the caller waits for the next byte or the end."""
        self._transport.resume_reading()
