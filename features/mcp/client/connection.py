"""Connection: one connection to a server, and the task that holds it. Uses the SDK."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from http import HTTPStatus
from typing import Any, Final, TypeVar, cast

import httpx2
from anyio.abc import ObjectReceiveStream
from django.conf import settings
from mcp import Client, MCPError
from mcp.client import Transport
from mcp.client.session import IncomingMessage
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp_types import (
    CallToolResult,
    Implementation,
    JSONRPCResponse,
    PromptListChangedNotification,
    RequestParamsMeta,
    ResourceListChangedNotification,
    ToolListChangedNotification,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from features.mcp.client.asking import Asking, CallQuestions
from features.mcp.client.configuration import (
    MAX_MESSAGE_BYTES,
    Answer,
    Asked,
    Caller,
    CallFailed,
    CallLost,
    Configuration,
    ServerUnavailable,
    Tokens,
)
from features.mcp.client.content import images_of, response_of, structured_of
from features.mcp.client.http import HttpServer
from features.mcp.client.listing_pages import Listing, list_catalog, list_tools
from features.mcp.client.outcomes import ConnectionEnded, failure_of, unavailable_of
from features.mcp.client.result_forms import normal_result
from features.mcp.client.stdio import StdioServer

Found = TypeVar("Found")

# To start, and to agree on a revision of the protocol. Servers that npx or uvx installs first take longest.
START_S: Final = 60.0
LIST_S: Final = 30.0
# For a resource, or a prompt.
ASK_S: Final = 30.0
# For the server to confirm that it will announce changes.
LISTEN_S: Final = 2.0
_CLOSE_S: Final = 10.0
# Answers in a row that are none: what else a server may have forgotten, another connection does not need.
MAX_FAILURES: Final = 2
# In `_meta` of a call, with a prefix of our own (modelcontextprotocol.io, `_meta`): the same again after a crash.
IDEMPOTENCY_KEY: Final = "turnwire/idempotency-key"
_CHANGES: Final = (
    ToolListChangedNotification,
    PromptListChangedNotification,
    ResourceListChangedNotification,
)
_TRANSPORT_ERRORS: Final = (MCPError, httpx2.HTTPError, OSError, ValidationError)


class Connection:
    """A connection to one server. calls: the number of running calls.  used_at: by the loop's clock.
    on_change: called with the server's id when one of its lists changed."""

    def __init__(
        self, configuration: Configuration, on_change: Callable[[str], None], tokens: Tokens
    ) -> None:
        self.configuration = configuration
        self.calls = 0
        self._is_lost = False
        self._failures = 0
        self.used_at = asyncio.get_running_loop().time()
        self._on_change = on_change
        self._server = (
            StdioServer(configuration) if configuration.command else HttpServer(configuration, tokens)
        )
        self._ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._is_listening: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._closing = asyncio.Event()
        self._asking = Asking()
        self._task = asyncio.create_task(self._hold(), name=f"mcp {configuration.name}")

    @property
    def is_open(self) -> bool:
        has_ended = isinstance(self._server, StdioServer) and self._server.problem
        return not (self._task.done() or self._closing.is_set() or self._is_lost or has_ended)

    async def list_tools(self) -> Listing:
        """List the server's tools, and its catalog if that succeeds. Raises ServerUnavailable."""
        client = await self._client()
        try:
            async with asyncio.timeout(LIST_S):
                listing = await list_tools(client)
        except TimeoutError:
            raise ServerUnavailable(f"The server did not list its tools within {LIST_S:g} s.") from None
        except _TRANSPORT_ERRORS as error:
            raise unavailable_of(error, self._server) from error
        try:
            async with asyncio.timeout(LIST_S):
                return listing._replace(catalog=await list_catalog(client))
        except (TimeoutError, *_TRANSPORT_ERRORS):
            return listing

    async def ask(self, question: Callable[[Client], Awaitable[Found]]) -> Found:
        """Await `question`; the server may ask no user meanwhile. Raises ServerUnavailable, CallFailed, CallLost."""
        client = await self._client()
        try:
            with self._asking.during(CallQuestions(None)):
                async with asyncio.timeout(ASK_S):
                    return await self._answered(question(client))
        except TimeoutError:
            raise CallFailed(f"The server did not answer within {ASK_S:g} s.") from None

    async def call(self, tool: str, arguments: Mapping[str, Any], caller: Caller) -> Answer:
        """Call a tool; a call that is cancelled here is cancelled at the server too.
        Raises ServerUnavailable if the server has not executed anything, CallFailed, CallLost, Asked."""
        client = await self._client()
        questions = CallQuestions(caller.answers)
        try:
            with self._asking.during(questions):
                result = await self._call(client, tool, arguments, caller)
        except CallFailed as failed:
            questions.ask_for_address(failed.__cause__)
            if questions.asked is None:
                raise
        if questions.asked is not None:
            raise Asked(questions.asked)
        images = {} if result.is_error else images_of(result)
        text = response_of(result, images, sends_structured=self.configuration.sends_structured)
        return Answer(text, result.is_error, structured_of(result), tuple(images.values()))

    async def _call(
        self, client: Client, tool: str, arguments: Mapping[str, Any], caller: Caller
    ) -> CallToolResult:

        async def tell(progress: float, total: float | None, message: str | None) -> None:
            await caller.progress(progress, total, message or "")

        called = client.call_tool(
            tool,
            dict(arguments),
            progress_callback=tell,
            meta=cast("RequestParamsMeta", {IDEMPOTENCY_KEY: caller.key}),
        )
        return await self._answered(called)

    async def _answered(self, asked: Awaitable[Found]) -> Found:
        try:
            answer = await asked
        except (MCPError, httpx2.HTTPError, OSError, RuntimeError, ValidationError) as error:
            failure = failure_of(error, self._server)
            self._note_failure(failure)
            raise failure from error
        self._failures = 0
        return answer

    def _note_failure(self, failure: Exception) -> None:
        """Give up a connection that has ended, or whose last MAX_FAILURES answers were none."""
        is_refused = isinstance(self._server, HttpServer) and self._server.status >= HTTPStatus.BAD_REQUEST
        if isinstance(failure, CallLost) or is_refused:
            self._failures += 1
        self._is_lost |= self._failures == MAX_FAILURES or isinstance(failure, ConnectionEnded)

    async def close(self) -> None:
        """Close the connection. Returns when the server's process has ended."""
        self._closing.set()
        if self._ready.done():
            await asyncio.wait({self._task}, timeout=_CLOSE_S)
        if not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=_CLOSE_S)

    async def _client(self) -> Client:
        # The task that waits may be cancelled; the connection stays for others.
        return await asyncio.shield(self._ready)

    async def _hold(self) -> None:
        """Open and close the connection in one task, as the SDK demands."""
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(START_S):
                    client = await self._open(stack)
                listening = asyncio.create_task(self._listen(client))
                try:
                    # Changes after the first list must not be missed.
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
            self._fail(unavailable_of(error, self._server))
        else:
            self._fail(ServerUnavailable("The connection was closed."))

    async def _open(self, stack: AsyncExitStack) -> Client:
        if isinstance(self._server, StdioServer):
            transport: Any = self._server.transport()
        else:
            http = await stack.enter_async_context(self._server.client())
            transport = streamable_http_client(
                self.configuration.url, http_client=http, max_sse_event_size=MAX_MESSAGE_BYTES
            )
        client = Client(
            lenient(transport),
            mode="auto",
            message_handler=self._receive,
            elicitation_callback=self._asking.receive,
            client_info=Implementation(name="turnwire", version=settings.VERSION),
            cache=None,
        )
        opened = await stack.enter_async_context(client)
        self._asking.is_modern = client.protocol_version in MODERN_PROTOCOL_VERSIONS
        # A result is for the model even if it violates its schema; and the SDK would list all tools to know the schema.
        opened.session.validate_tool_result = _accept  # type: ignore[method-assign,assignment]
        return opened

    async def _receive(self, message: IncomingMessage) -> None:
        # With the newer protocol, the SDK also passes on here what `_listen` receives.
        if isinstance(message, _CHANGES) and not self._is_listening.done():
            self._on_change(self.configuration.server)

    async def _listen(self, client: Client) -> None:
        """Subscribe to changes whatever the server announces: servers of the SDK send changes without announcing it.
        Older revisions send changes unasked."""
        if client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return
        try:
            async with client.listen(
                tools_list_changed=True, prompts_list_changed=True, resources_list_changed=True
            ) as changes:
                self._is_listening.set_result(None)
                async for _ in changes:
                    self._on_change(self.configuration.server)
        except (ListenNotSupportedError, SubscriptionLost, TimeoutError, *_TRANSPORT_ERRORS):
            return  # it is listed again when the list expires

    def _fail(self, unavailable: ServerUnavailable) -> None:
        if not self._ready.done():
            self._ready.set_exception(unavailable)
            self._ready.exception()  # nobody may be waiting


async def _accept(*_: object) -> None:
    pass


@asynccontextmanager
async def lenient(transport: Transport) -> AsyncIterator[Any]:
    """Open a transport whose results have the form that the SDK demands (result_forms.py).

    Servers that leave out members exist: some made with an SDK that sends no `resultType` (revision 2026-07-28;
    github.com/modelcontextprotocol/csharp-sdk, issue 1676), others without capabilities or schemas.
    """
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
