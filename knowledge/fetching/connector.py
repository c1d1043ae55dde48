"""The connector of one request. It resolves the host once, checks every address, and connects only to checked ones."""

import asyncio
import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from knowledge.fetching.public_addresses import is_public
from knowledge.fetching.target import UrlRefused

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
