"""Connection: one connection to a server, with the task that holds it. The only module beside the transports that knows the SDK."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any, Final, NamedTuple, cast

import httpx2
from django.conf import settings
from mcp import Client, MCPError
from mcp.client.client import ConnectMode
from mcp.client.session import IncomingMessage
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp_types import CONNECTION_CLOSED, Implementation, RequestParamsMeta, Tool, ToolListChangedNotification
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from llm_worker.mcp.configuration import (
    MAX_MESSAGE_BYTES,
    Answer,
    CallFailed,
    CallLost,
    Configuration,
    Progress,
    ServerUnavailable,
)
from llm_worker.mcp.content import response_of
from llm_worker.mcp.http import HttpServer
from llm_worker.mcp.stdio import StdioServer

# To start, and to agree on a revision of the protocol. Those that npx or uvx installs first take longest.
START_S: Final = 60.0
LIST_S: Final = 30.0
# For the server to say that it will tell of changes.
LISTEN_S: Final = 2.0
MAX_TOOLS: Final = 500
_CLOSE_S: Final = 10.0
# In `_meta` of a call: the same if it is executed again after a crash (modelcontextprotocol.io, `_meta`: a prefix of one's own).
IDEMPOTENCY_KEY: Final = "turnwire/idempotency-key"
_TRANSPORT_ERRORS: Final = (MCPError, httpx2.HTTPError, OSError, ValidationError)


class Listing(NamedTuple):
    """ttl: how long the server says that it holds; None: it does not say."""

    tools: list[Tool]
    ttl: timedelta | None


class Connection:
    """calls: how many are running.  used_at: of the loop's clock.  on_change: called when the server's list of tools changed."""

    def __init__(self, configuration: Configuration, on_change: Callable[[str], None]) -> None:
        self.configuration = configuration
        self.calls = 0
        self._is_lost = False
        self.used_at = asyncio.get_running_loop().time()
        self._on_change = on_change
        self._server = StdioServer(configuration) if configuration.command else HttpServer(configuration)
        self._ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._is_listening: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._closing = asyncio.Event()
        self._task = asyncio.create_task(self._hold(), name=f"mcp {configuration.name}")

    @property
    def is_open(self) -> bool:
        has_ended = isinstance(self._server, StdioServer) and self._server.problem
        return not (self._task.done() or self._closing.is_set() or self._is_lost or has_ended)

    async def list_tools(self) -> Listing:
        """Raises ServerUnavailable."""
        client = await self._client()
        tools: list[Tool] = []
        cursor, ttl = None, None
        try:
            async with asyncio.timeout(LIST_S):
                while len(tools) < MAX_TOOLS:
                    page = await client.list_tools(cursor=cursor)
                    tools += page.tools
                    ttl = timedelta(milliseconds=page.ttl_ms) if page.ttl_ms else ttl
                    cursor = page.next_cursor
                    if not cursor:
                        break
        except TimeoutError:
            raise ServerUnavailable(f"The server did not list its tools within {LIST_S:g} s.") from None
        except _TRANSPORT_ERRORS as error:
            raise self._unavailable(error) from error
        return Listing(tools[:MAX_TOOLS], ttl)

    async def call(self, tool: str, arguments: Mapping[str, Any], key: str, show: Progress) -> Answer:
        """Raises ServerUnavailable if the server was asked nothing, CallFailed, CallLost. A cancelled one is cancelled there too."""
        client = await self._client()

        async def tell(progress: float, total: float | None, message: str | None) -> None:
            await show(progress, total, message or "")

        try:
            result = await client.call_tool(
                tool,
                dict(arguments),
                progress_callback=tell,
                meta=cast("RequestParamsMeta", {IDEMPOTENCY_KEY: key}),
            )
        except MCPError as error:
            if error.error.message == "Session terminated":
                raise ServerUnavailable("The server has forgotten the session.") from error
            if error.error.code == CONNECTION_CLOSED or self._server.problem:
                raise self._lost() from error
            raise CallFailed(error.error.message) from error
        except (httpx2.HTTPError, OSError) as error:
            raise self._lost() from error
        except (RuntimeError, ValidationError) as error:
            raise CallFailed(f"The server answered what the protocol does not allow: {error}") from error
        return Answer(response_of(result), result.is_error)

    async def close(self) -> None:
        """Returns when the server's process has ended."""
        self._closing.set()
        if self._ready.done():
            await asyncio.wait({self._task}, timeout=_CLOSE_S)
        if not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=_CLOSE_S)

    async def _client(self) -> Client:
        # Whoever waits may be cancelled; the connection stays for others.
        return await asyncio.shield(self._ready)

    async def _hold(self) -> None:
        """Opens and closes the connection in one task, as the SDK demands it."""
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(START_S):
                    client = await self._open(stack)
                listening = asyncio.create_task(self._listen(client))
                try:
                    # What changes after the first list must not be missed.
                    await asyncio.wait(
                        {listening, self._is_listening}, timeout=LISTEN_S, return_when="FIRST_COMPLETED"
                    )
                    self._ready.set_result(client)
                    await self._closing.wait()
                finally:
                    listening.cancel()
                    await asyncio.gather(listening, return_exceptions=True)
        except TimeoutError:
            self._fail(ServerUnavailable(f"The server did not answer within {START_S:g} s."))
        except ServerUnavailable as unavailable:
            self._fail(unavailable)
        except asyncio.CancelledError:
            self._fail(ServerUnavailable("The connection was closed."))
            raise
        except Exception as error:  # noqa: BLE001  the SDK raises groups of whatever its tasks raise
            self._fail(self._unavailable(error))
        else:
            self._fail(ServerUnavailable("The connection was closed."))

    async def _open(self, stack: AsyncExitStack) -> Client:
        mode: ConnectMode = "auto"
        if isinstance(self._server, StdioServer):
            transport: Any = self._server.transport()
        else:
            http = await stack.enter_async_context(self._server.client())
            transport = streamable_http_client(
                self.configuration.url, http_client=http, max_sse_event_size=MAX_MESSAGE_BYTES
            )
        client = Client(
            transport,
            mode=mode,
            message_handler=self._receive,
            client_info=Implementation(name="turnwire", version=settings.VERSION),
            cache=None,
        )
        return await stack.enter_async_context(client)

    async def _receive(self, message: IncomingMessage) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._on_change(self.configuration.server)

    async def _listen(self, client: Client) -> None:
        """Asks for changes whatever the server says of itself: those of the SDK tell of them and do not say so. Older revisions
        send changes unasked."""
        if client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return
        try:
            async with client.listen(tools_list_changed=True) as changes:
                self._is_listening.set_result(None)
                async for _ in changes:
                    self._on_change(self.configuration.server)
        except (ListenNotSupportedError, SubscriptionLost, TimeoutError, *_TRANSPORT_ERRORS):
            return  # it is listed again when the list expires

    def _lost(self) -> CallLost:
        self._is_lost = True
        return CallLost(self._server.problem or "The connection to the server ended.")

    def _fail(self, unavailable: ServerUnavailable) -> None:
        if not self._ready.done():
            self._ready.set_exception(unavailable)
            self._ready.exception()  # nobody may be waiting

    def _unavailable(self, error: BaseException) -> ServerUnavailable:
        needs_sign_in = isinstance(self._server, HttpServer) and self._server.needs_sign_in
        problem = self._server.problem or f"The server does not speak the protocol: {_first(error)}"
        return ServerUnavailable(problem, needs_sign_in=needs_sign_in)


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
