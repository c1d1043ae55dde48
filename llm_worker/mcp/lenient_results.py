"""Adds what revision 2026-07-28 demands of results, and some servers leave out: the SDK would refuse all they say.

The schema of that revision says what clients assume of a result without `resultType`; servers made with an SDK that
sends none exist (github.com/modelcontextprotocol/csharp-sdk, issue 1676). Without hints a list is not cached. Uses the
SDK.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from anyio.abc import ObjectReceiveStream
from mcp.client import Transport
from mcp_types import JSONRPCResponse

# The SDK ignores those that results of the agreed revision do not have.
_ASSUMED: Final = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}


@asynccontextmanager
async def lenient(transport: Transport) -> AsyncIterator[Any]:
    """Open a transport whose results have all members that are demanded."""
    async with transport as (incoming, outgoing):
        yield _CompleteResults(incoming), outgoing


class _CompleteResults(ObjectReceiveStream[Any]):
    """The messages of a stream, with complete results."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def receive(self) -> Any:
        received = await self._stream.receive()
        message = getattr(received, "message", None)
        if isinstance(message, JSONRPCResponse):
            for name, value in _ASSUMED.items():
                message.result.setdefault(name, value)
        return received

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __getattr__(self, name: str) -> Any:
        # The SDK looks for `last_context`.
        return getattr(self._stream, name)
