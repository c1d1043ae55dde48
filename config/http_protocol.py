"""A uvicorn HTTP protocol with limits that apply before any application code runs; the Procfile selects it.

Limits the connections of an address, the time and the bytes of a request's head, the bytes around its body, and the
time in which a client reads what is buffered for it. The body itself is limited in web/rest/request_bodies.py.
"""

import asyncio
from collections import Counter
from functools import cache, lru_cache
from ipaddress import ip_address, ip_network
from typing import Any, Final

from django.conf import settings
from msgspec import json
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from chat.protocol.errors import ApiError
from features.accounts.client_network import client_network

# Browsers and proxies send at most 8 to 32 KiB.
MAX_HEAD_BYTES: Final = 64 * 1024
# Bytes of framing and trailers of a chunked body, for each byte of content. A chunk of one byte has five.
MAX_FRAMING_PER_BYTE: Final = 16


class OpenConnections:
    """Counts the open connections of each address: HTTP, and the websockets that they became."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._addresses: dict[int, str] = {}

    def admit(self, transport: asyncio.Transport, host: str | None) -> bool:
        """Count the connection and return whether it is within the limit. Proxies and this machine have no limit."""
        if host is None or is_exempt(host) or not settings.MAX_CONNECTIONS_PER_ADDRESS:
            return True
        address = client_network(host)
        self._addresses[id(transport)] = address
        self._counts[address] += 1
        return self._counts[address] <= settings.MAX_CONNECTIONS_PER_ADDRESS

    def release(self, transport: asyncio.Transport) -> None:
        address = self._addresses.pop(id(transport), None)
        if address is not None:
            self._counts[address] -= 1
            if not self._counts[address]:
                del self._counts[address]


connections: Final = OpenConnections()


@lru_cache(maxsize=4096)
def is_exempt(host: str) -> bool:
    """Return whether connections from `host` belong to many clients: a trusted proxy, or anything on this machine."""
    address = ip_address(host)
    proxies = (ip_network(proxy) for proxy in settings.TRUSTED_PROXIES)
    return address.is_loopback or any(address in network for network in proxies)


class Http(HttpToolsProtocol):
    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._head_timer: asyncio.TimerHandle | None = None
        # Runs while the client reads nothing of what is buffered for it.
        self._write_timer: asyncio.TimerHandle | None = None
        # Bytes of the message that is being received: those of its body, and all others.
        self._body_bytes = 0
        self._other_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if connections.admit(transport, self.client[0] if self.client else None):
            self._start_head_timer()
        else:
            self._refuse("too_many_connections")

    def connection_lost(self, exc: Exception | None) -> None:
        connections.release(self.transport)
        self._stop_head_timer()
        self._stop_write_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        self._other_bytes += len(data)
        super().data_received(data)
        if self._other_bytes > MAX_HEAD_BYTES + MAX_FRAMING_PER_BYTE * self._body_bytes:
            self._refuse("headers_too_large")

    def on_message_begin(self) -> None:
        if self._head_timer is None:
            self._start_head_timer()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._stop_head_timer()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._body_bytes += len(body)
        self._other_bytes -= len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._body_bytes = self._other_bytes = 0
        super().on_message_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._write_timer = self.loop.call_later(settings.RESPONSE_TIMEOUT_S, self.transport.abort)

    def resume_writing(self) -> None:
        self._stop_write_timer()
        super().resume_writing()

    def _stop_write_timer(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None

    def _start_head_timer(self) -> None:
        self._head_timer = self.loop.call_later(settings.REQUEST_HEADER_TIMEOUT_S, self._on_late_head)

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _on_late_head(self) -> None:
        self._head_timer = None
        self._refuse("request_timeout")

    def _refuse(self, code: str) -> None:
        """Answer and close the connection.
        In the middle of a response, and before any byte of a request, only close it.
        """
        if self.transport.is_closing():
            return
        is_answering = self.cycle is not None and not self.cycle.response_complete
        if not is_answering and (self._other_bytes or code == "too_many_connections"):
            self.transport.write(response_to(code))
        self.transport.close()


@cache
def response_to(code: str) -> bytes:
    """Build a whole HTTP response with the API's error shape; the request has no id yet."""
    from web.rest.errors import describe

    described = describe(ApiError(code))
    body = json.encode(described.body(""))
    headers = {
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "Connection": "close",
        **described.headers,
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return STATUS_LINE[described.status] + head.encode("ascii") + b"\r\n" + body
