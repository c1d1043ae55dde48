"""Requests URLs that others choose, from public web servers and the hosts that the settings allow, and nowhere else.

A name is resolved once, all its addresses are checked, and the connection uses these addresses: a second answer of the
name server has no effect. The same holds for each redirect. Cookies, proxies and passwords of the environment are not
used.
"""

import asyncio
import socket
import ssl
import threading
import zlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urljoin

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from django.conf import settings
from yarl import URL

from knowledge.fetching.public_addresses import is_public
from knowledge.fetching.target import Target, UrlRefused, parse_target

# Returns the addresses of a host, IPv4 and IPv6. Raises OSError.
Resolver = Callable[[str, int], Sequence[str]]
_MAX_ADDRESSES: Final = 8


def resolve_host(host: str, port: int) -> Sequence[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def guarded_connector(resolve: Resolver, *, is_allowed: bool) -> aiohttp.TCPConnector:
    """Create the connector of one request. `is_allowed`: the settings name the host, which may have any address."""

    def open_socket(info: aiohttp.AddrInfoType) -> socket.socket:
        # Addresses from the resolver were checked already; literal addresses do not pass the resolver.
        family, kind, protocol, _, address = info
        if not (is_allowed or is_public(str(address[0]))):
            raise PermissionError("not a public address")
        return socket.socket(family, kind, protocol)

    return aiohttp.TCPConnector(
        resolver=CheckedResolver(resolve, is_allowed=is_allowed),
        socket_factory=open_socket,
        use_dns_cache=False,
        force_close=True,
    )


class CheckedResolver(AbstractResolver):
    """A resolver that returns checked addresses only.
    aiohttp connects to these, and uses the name for SNI, the certificate and `Host` alone.
    """

    def __init__(self, resolve: Resolver, *, is_allowed: bool) -> None:
        self._resolve, self._is_allowed = resolve, is_allowed

    async def resolve(
        self,
        host: str,
        port: int = 0,
        family: socket.AddressFamily = socket.AF_UNSPEC,  # noqa: ARG002
    ) -> list[ResolveResult]:
        """Resolve a host. Raises UrlRefused if it has no address, or any address that is not allowed."""
        addresses = await _in_daemon_thread(lambda: self._resolve(host, port))
        if not addresses:
            raise UrlRefused("url_unreachable", host)
        if not (self._is_allowed or all(map(is_public, addresses))):
            raise UrlRefused("url_address_blocked", host)
        return [_resolved(host, port, address) for address in addresses[:_MAX_ADDRESSES]]

    async def close(self) -> None:
        pass


def _resolved(host: str, port: int, address: str) -> ResolveResult:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    flags = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
    return ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=flags)


async def _in_daemon_thread(ask: Callable[[], Sequence[str]]) -> Sequence[str]:
    """Resolve in a daemon thread; return no addresses if that fails.
    A name server that hangs blocks neither a thread pool nor the exit of the process.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[Sequence[str]] = loop.create_future()

    def tell(addresses: Sequence[str]) -> None:
        if not answer.done():  # cancelled
            answer.set_result(addresses)

    def work() -> None:
        found: Sequence[str] = ()
        with suppress(OSError, UnicodeError):
            found = ask()
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(tell, found)

    threading.Thread(target=work, name="resolver", daemon=True).start()
    return await answer


_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_PIECE_BYTES: Final = 64 * 1024
_MAX_HEADERS: Final = 100
_OWN_HEADERS: Final = {"User-Agent": "Turnwire", "Accept": "*/*", "Accept-Encoding": "gzip"}
# The headers that a request may carry to another origin than that of its URL.
_PORTABLE: Final = frozenset({"accept", "accept-language", "user-agent"})


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """Limits of one request.
    max_bytes: of a body, both received and unpacked.  total_s: including all redirects and the body; None: no limit.
    """

    max_bytes: int = 5 * 1024 * 1024
    max_redirects: int = 3
    connect_s: float = 3.0
    read_s: float = 10.0
    total_s: float | None = 20.0


@dataclass(frozen=True, slots=True)
class GuardedRequest:
    """A request. headers: sent to the origin of the URL; other origins do not get those that may contain secrets."""

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None


class GuardedResponse:
    """A response, whose body is not read yet. url: the URL after all redirects."""

    def __init__(self, url: str, response: aiohttp.ClientResponse, max_bytes: int) -> None:
        self.url = url
        self.status = response.status
        self.headers = response.headers
        self._response, self._max_bytes = response, max_bytes

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yield the unpacked body in pieces. Raises UrlRefused."""
        unpacker = BodyUnpacker(self.headers.get("Content-Encoding", ""), self._max_bytes)
        async for piece in self._response.content.iter_chunked(_PIECE_BYTES):
            yield unpacker.feed(piece)
        unpacker.end()

    async def read(self) -> bytes:
        """Return the whole unpacked body. Raises UrlRefused."""
        content = bytearray()
        async for piece in self.pieces():
            content += piece
        return bytes(content)


@asynccontextmanager
async def send(
    request: GuardedRequest, limits: RequestLimits | None = None, resolve: Resolver = resolve_host
) -> AsyncIterator[GuardedResponse]:
    """Send a request; yield the response, with any status. Redirects of GET and HEAD are followed.
    Raises UrlRefused, inside the block as well.
    """
    limits = limits or RequestLimits()
    try:
        async with asyncio.timeout(limits.total_s), _follow(request, limits, resolve) as response:
            yield response
    except TimeoutError as error:
        raise UrlRefused("timeout", was_sent=_was_sent(error)) from error
    except (aiohttp.ClientSSLError, ssl.SSLError) as error:
        raise UrlRefused("tls_error", str(error), was_sent=_was_sent(error)) from error
    except aiohttp.ClientResponseError as error:
        # Its words have the whole address, whose query may have a key.
        raise UrlRefused("url_unreachable", error.message, was_sent=True) from None
    except (aiohttp.ClientError, OSError) as error:
        raise UrlRefused("url_unreachable", str(error), was_sent=_was_sent(error)) from error


def _was_sent(error: Exception) -> bool:
    return not isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError)


@asynccontextmanager
async def _follow(
    request: GuardedRequest, limits: RequestLimits, resolve: Resolver
) -> AsyncIterator[GuardedResponse]:
    target = parse_target(request.url, settings.URL_ALLOWED_HOSTS)
    headers = dict(request.headers)
    for _ in range(limits.max_redirects + 1):
        async with _hop(target, request, headers, limits, resolve) as response:
            place = _place(request, response)
            if place is None:
                yield GuardedResponse(target.url, response, limits.max_bytes)
                return
        following = parse_target(urljoin(target.url, place), settings.URL_ALLOWED_HOSTS)
        headers = _headers_for(following, target, headers)
        target = following
    raise UrlRefused("too_many_redirects", location=target.url)


@asynccontextmanager
async def _hop(
    target: Target,
    request: GuardedRequest,
    headers: Mapping[str, str],
    limits: RequestLimits,
    resolve: Resolver,
) -> AsyncIterator[aiohttp.ClientResponse]:
    """Send one request to one server, over a connection of its own."""
    timeout = aiohttp.ClientTimeout(total=None, connect=limits.connect_s, sock_read=limits.read_s)
    async with aiohttp.ClientSession(
        connector=guarded_connector(resolve, is_allowed=target.is_in(settings.URL_ALLOWED_HOSTS)),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=timeout,
        auto_decompress=False,
        trust_env=False,
        max_headers=_MAX_HEADERS,
        headers=_OWN_HEADERS,
    ) as session:
        # Encoded already, so that exactly the checked address is requested.
        url = URL(target.url, encoded=True)
        async with session.request(
            request.method, url, headers=headers, data=request.body, allow_redirects=False
        ) as response:
            yield response


def _place(request: GuardedRequest, response: aiohttp.ClientResponse) -> str | None:
    """Return the location of a redirect; None if the response is not followed."""
    is_followed = response.status in _REDIRECTS and request.method in ("GET", "HEAD")
    return response.headers.get("Location") if is_followed else None


def _headers_for(target: Target, before: Target, headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers for the next target: all for the same origin, else only those that may travel.
    Raises UrlRefused for a redirect from https to http if any header would be omitted.
    """
    if target.origin == before.origin:
        return dict(headers)
    kept = {name: value for name, value in headers.items() if name.lower() in _PORTABLE}
    if len(kept) < len(headers) and (before.scheme, target.scheme) == ("https", "http"):
        raise UrlRefused("url_scheme_blocked", "a redirect from https to http")
    return kept


_GZIP: Final = frozenset({"gzip", "x-gzip"})
_PLAIN: Final = frozenset({"", "identity"})
# The wbits of zlib: a gzip header, with the largest window.
_GZIP_WINDOW: Final = 31


class BodyUnpacker:
    """Unpacks one body piece by piece, and no more of a decompression bomb than the limit. max_bytes: the limit of the bytes received, and of the bytes unpacked."""

    def __init__(self, encoding: str, max_bytes: int) -> None:
        """Prepare for a body. `encoding`: Content-Encoding. Raises UrlRefused if it was not requested."""
        encoding = encoding.strip().lower()
        if encoding not in _GZIP | _PLAIN:
            raise UrlRefused("content_type_unsupported", encoding[:20])
        self._unpacker = zlib.decompressobj(_GZIP_WINDOW) if encoding in _GZIP else None
        self._max_bytes = max_bytes
        self._received = self._unpacked = 0

    def feed(self, piece: bytes) -> bytes:
        """Return the unpacked content of a piece. Raises UrlRefused if it is damaged or exceeds the limit."""
        self._received += len(piece)
        content = self._unpack(self._unpacker, piece) if self._unpacker else piece
        self._unpacked += len(content)
        if max(self._received, self._unpacked) > self._max_bytes:
            raise UrlRefused("response_too_large")
        return content

    def end(self) -> None:
        """Check that the body is complete. Raises UrlRefused if it was cut off."""
        if self._unpacker and self._received and not self._unpacker.eof:
            raise UrlRefused("url_unreachable", "gzip was cut off")

    def _unpack(self, unpacker: "zlib._Decompress", piece: bytes) -> bytes:
        try:
            content = unpacker.decompress(piece, self._max_bytes + 1 - self._unpacked)
        except zlib.error as error:
            raise UrlRefused("url_unreachable", "no gzip") from error
        if unpacker.unused_data:
            raise UrlRefused("url_unreachable", "more than one gzip stream")
        return content
