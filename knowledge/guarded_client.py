"""Reads a text from a URL that a user or a model has chosen, and reaches nothing but public web servers (decision 0115).

A name is resolved once, all its addresses are checked, and one of those is connected to: a second answer of the name server
decides nothing. The same holds for each redirect. Neither cookies nor proxies of the environment are used.
"""

import socket
import ssl
import time
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Final, NamedTuple
from urllib.parse import quote, urljoin, urlsplit

import httpcore2 as httpcore
from django.conf import settings

from knowledge.page_encodings import as_utf8
from knowledge.public_addresses import is_public

MAX_BYTES: Final = 5 * 1024 * 1024  # decompressed
MAX_URL_CHARACTERS: Final = 2_000
MAX_REDIRECTS: Final = 3
CONNECT_S: Final = 3.0
READ_S: Final = 10.0
TOTAL_S: Final = 20.0
_PORTS: Final = {"http": 80, "https": 443}
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_TEXTS: Final = frozenset(
    {"application/xhtml+xml", "application/json", "application/xml", "application/javascript"}
)
_HEADERS: Final[dict[bytes | str, bytes | str]] = {
    "User-Agent": "Turnwire",
    "Accept": "text/html, application/xhtml+xml, text/*;q=0.9, application/json;q=0.8, application/xml;q=0.8",
    "Accept-Encoding": "gzip",
    "Connection": "close",
}
_TIMEOUTS: Final = {"connect": CONNECT_S, "read": READ_S, "write": READ_S, "pool": CONNECT_S}
# Returns the addresses of a host, IPv4 and IPv6. Raises OSError.
Resolver = Callable[[str, int], Sequence[str]]


class UrlRefused(Exception):
    """code: as in chat/protocol/file_errors.py."""

    def __init__(self, code: str, why: str = "") -> None:
        self.code = code
        super().__init__(f"{code}: {why}" if why else code)


class FetchedText(NamedTuple):
    """url: where the redirects led.  content: UTF-8, where the server has named another encoding that is known."""

    url: str
    content_type: str
    content: bytes


class _Target(NamedTuple):
    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"


def resolve_host(host: str, port: int) -> Sequence[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def fetch_text(url: str, resolve: Resolver = resolve_host) -> FetchedText:
    """Raises UrlRefused. Takes TOTAL_S at most."""
    deadline = _Deadline(TOTAL_S)
    allowed = settings.OPEN_URL_HOSTS
    for _ in range(MAX_REDIRECTS + 1):
        target = _parse(url, allowed)
        backend = _GuardedBackend(resolve, deadline, is_allowed=_is_named(target, allowed))
        with _refusals(), httpcore.ConnectionPool(network_backend=backend) as pool:
            found = _request(pool, target, deadline)
        if isinstance(found, str):
            url = urljoin(url, found)
            continue
        content_type, content = found
        return FetchedText(url, content_type, content)
    raise UrlRefused("too_many_redirects")


def _parse(url: str, allowed: Collection[str]) -> _Target:
    """Raises UrlRefused for what is not fetched, whatever its host resolves to."""
    try:
        parts = urlsplit(url.strip())
        port = parts.port
        host = (parts.hostname or "").encode("idna").decode() if parts.hostname else ""
    except (ValueError, UnicodeError):
        raise UrlRefused("url_address_blocked", "no URL") from None
    if parts.scheme not in _PORTS:
        raise UrlRefused("url_scheme_blocked", parts.scheme[:20])
    if not host or len(url) > MAX_URL_CHARACTERS or any(ord(one) <= 32 or one in "\\\x7f" for one in host):
        raise UrlRefused("url_address_blocked", "no host")
    if "@" in parts.netloc:
        raise UrlRefused("url_address_blocked", "with a user name")
    # What is percent-encoded already stays so.
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    search = quote(parts.query, safe="/%:@!$&'()*+,;=~-._?")
    target = _Target(parts.scheme, host, port or _PORTS[parts.scheme], f"{path}?{search}" if search else path)
    if target.port not in _PORTS.values() and not _is_named(target, allowed):
        raise UrlRefused("url_address_blocked", f"port {target.port}")
    return target


def _is_named(target: _Target, allowed: Collection[str]) -> bool:
    return target.host in allowed or f"{target.host}:{target.port}" in allowed


class _Deadline:
    def __init__(self, seconds: float) -> None:
        self._at = time.monotonic() + seconds

    def left(self, most: float | None) -> float:
        """Seconds. Raises UrlRefused if there are none."""
        left = self._at - time.monotonic()
        if left <= 0:
            raise UrlRefused("timeout")
        return left if most is None else min(left, most)


class _GuardedStream(httpcore.NetworkStream):
    """Waits for its peer no longer than the whole fetch may take."""

    def __init__(self, stream: httpcore.NetworkStream, deadline: _Deadline) -> None:
        self._stream, self._deadline = stream, deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._deadline.left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._deadline.left(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        try:
            inner = self._stream.start_tls(ssl_context, server_hostname, self._deadline.left(timeout))
        except httpcore.ConnectError as error:
            raise UrlRefused("tls_error", str(error)) from error
        return _GuardedStream(inner, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _GuardedBackend(httpcore.NetworkBackend):
    """Connects to checked addresses alone. is_allowed: the settings name the host, and it may be anywhere."""

    def __init__(self, resolve: Resolver, deadline: _Deadline, *, is_allowed: bool) -> None:
        self._resolve, self._deadline, self._is_allowed = resolve, deadline, is_allowed
        self._tcp = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        limit = time.monotonic() + self._deadline.left(timeout)
        addresses = _resolve_within(self._resolve, host, port, limit - time.monotonic())
        if not addresses or not (self._is_allowed or all(map(is_public, addresses))):
            raise UrlRefused("url_address_blocked" if addresses else "url_unreachable", host)
        failed: Exception = httpcore.ConnectTimeout()
        for address in addresses:
            left = limit - time.monotonic()
            if left <= 0:
                break
            try:
                stream = self._tcp.connect_tcp(address, port, left, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failed = error
            else:
                return _GuardedStream(stream, self._deadline)
        raise failed


def _resolve_within(resolve: Resolver, host: str, port: int, seconds: float) -> Sequence[str]:
    """Name servers have timeouts of their own. Raises UrlRefused."""
    answers: SimpleQueue[Sequence[str] | None] = SimpleQueue()

    def ask() -> None:
        try:
            answers.put(resolve(host, port))
        except (OSError, UnicodeError):
            answers.put(None)

    Thread(target=ask, name="resolver", daemon=True).start()
    try:
        found = answers.get(timeout=seconds)
    except Empty:
        raise UrlRefused("timeout", "of the name server") from None
    if found is None:
        raise UrlRefused("url_unreachable", host)
    return found


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except httpcore.TimeoutException as error:
        raise UrlRefused("timeout") from error
    except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.UnsupportedProtocol) as error:
        raise UrlRefused("url_unreachable", str(error)) from error


def _request(pool: httpcore.ConnectionPool, target: _Target, deadline: _Deadline) -> str | tuple[str, bytes]:
    """Where to go on, or the type and the content."""
    url = httpcore.URL(scheme=target.scheme, host=target.host, port=target.port, target=target.path)
    headers: dict[bytes | str, bytes | str] = {"Host": target.authority, **_HEADERS}
    with pool.stream("GET", url, headers=headers, extensions={"timeout": _TIMEOUTS}) as response:
        given = {name.lower(): value.decode("latin1") for name, value in response.headers}
        if response.status in _REDIRECTS and b"location" in given:
            return given[b"location"]
        if not 200 <= response.status < 300:
            raise UrlRefused("http_error", str(response.status))
        content_type, charset = _text_type(given.get(b"content-type", ""))
        content = _read(response.iter_stream(), given.get(b"content-encoding", ""), deadline)
    return content_type, as_utf8(content, charset)


def _text_type(header: str) -> tuple[str, str]:
    """The type and the encoding. Raises UrlRefused unless it is a text."""
    kind, _, parameters = header.partition(";")
    kind = kind.strip().lower()
    if kind.endswith("+json"):
        kind = "application/json"
    elif kind.endswith("+xml") and kind not in _TEXTS:
        kind = "application/xml"
    if not (kind.startswith("text/") or kind in _TEXTS):
        raise UrlRefused("content_type_unsupported", kind[:60])
    _, _, charset = parameters.lower().partition("charset=")
    return kind.replace("application/javascript", "text/javascript"), charset.strip(" \"';").split(";")[0]


def _read(chunks: Iterable[bytes], encoding: str, deadline: _Deadline) -> bytes:
    """Decompressed piece by piece: of a bomb, no more is unpacked than is accepted. No more is received either."""
    if encoding.strip().lower() not in ("", "identity", "gzip", "x-gzip"):
        raise UrlRefused("content_type_unsupported", encoding[:20])
    unpacker = zlib.decompressobj(31) if "gzip" in encoding.lower() else None
    content, received = bytearray(), 0
    for chunk in chunks:
        deadline.left(None)
        received += len(chunk)
        try:
            content += unpacker.decompress(chunk, MAX_BYTES + 1 - len(content)) if unpacker else chunk
        except zlib.error as error:
            raise UrlRefused("url_unreachable", "no gzip") from error
        if max(received, len(content)) > MAX_BYTES:
            raise UrlRefused("response_too_large")
        if unpacker and unpacker.unused_data:
            raise UrlRefused("url_unreachable", "more than one gzip stream")
    if unpacker and received and not unpacker.eof:
        raise UrlRefused("url_unreachable", "gzip was cut off")
    return bytes(content)
