"""Opens transports whose results have the form that the SDK demands (result_forms.py). Uses the SDK.

Servers that leave out members exist: some made with an SDK that sends no `resultType` (revision 2026-07-28;
github.com/modelcontextprotocol/csharp-sdk, issue 1676), others without capabilities or schemas.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from anyio.abc import ObjectReceiveStream
from mcp.client import Transport
from mcp_types import JSONRPCResponse

from llm_worker.mcp.result_forms import normal_result


@asynccontextmanager
async def lenient(transport: Transport) -> AsyncIterator[Any]:
    """Open a transport whose results are normalised."""
    async with transport as (incoming, outgoing):
        yield _NormalResults(incoming), outgoing


class _NormalResults(ObjectReceiveStream[Any]):
    """The messages of a stream, with normal results."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def receive(self) -> Any:
        received = await self._stream.receive()
        message = getattr(received, "message", None)
        if isinstance(message, JSONRPCResponse):
            message.result = normal_result(message.result)
        return received

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __getattr__(self, name: str) -> Any:
        # The SDK looks for `last_context`.
        return getattr(self._stream, name)
