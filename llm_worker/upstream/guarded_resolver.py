"""Connects to providers that staff have entered, and refuses addresses that no model server has.

Private networks are allowed: Ollama and vLLM are there. The addresses where clouds keep the credentials of a machine
are refused, whatever name or spelling leads to them.
"""

import socket
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import DefaultResolver

from knowledge.fetching.public_addresses import is_metadata


class AddressRefused(OSError):
    """No model server has this address. aiohttp reports a failure of the name server, with this error as its cause."""


class GuardedResolver(AbstractResolver):
    def __init__(self) -> None:
        self._resolver = DefaultResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Resolve a host name. Raises OSError; AddressRefused if one of the addresses is refused."""
        found = await self._resolver.resolve(host, port, family)
        if any(is_metadata(one["host"]) for one in found):
            raise AddressRefused(f"{host} is the address of a machine's metadata")
        return found

    async def close(self) -> None:
        await self._resolver.close()


def provider_connector(**options: Any) -> aiohttp.TCPConnector:
    """Create aiohttp's connector for the server of a provider. options: further ones of TCPConnector."""
    return aiohttp.TCPConnector(resolver=GuardedResolver(), socket_factory=_open_socket, **options)


def _open_socket(info: aiohttp.AddrInfoType) -> socket.socket:
    """Open a socket for aiohttp. Raises AddressRefused.
    Literal addresses pass no resolver, and aiohttp takes 169。254。169。254 for one.
    """
    family, kind, protocol, _, address = info
    if is_metadata(str(address[0])):
        raise AddressRefused(f"{address[0]} is the address of a machine's metadata")
    return socket.socket(family, kind, protocol)
