"""Resolves the names of providers that staff have entered, and refuses addresses that no model server has.

Private networks are allowed: Ollama and vLLM are there. The addresses where clouds keep the credentials of a machine
are refused, whatever name leads to them.
"""

import socket

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
