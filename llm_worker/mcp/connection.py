"""Connection: one connection to a server, and the task that holds it. Uses the SDK."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from http import HTTPStatus
from typing import Any, Final, TypeVar, cast

import httpx2
from django.conf import settings
from mcp import Client, MCPError
from mcp.client.session import IncomingMessage
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp_types import (
    CONNECTION_CLOSED,
    CallToolResult,
    Implementation,
    PromptListChangedNotification,
    RequestParamsMeta,
    ResourceListChangedNotification,
    ToolListChangedNotification,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from llm_worker.mcp.asking import Asking, CallQuestions
from llm_worker.mcp.configuration import (
    MAX_MESSAGE_BYTES,
    SIGN_IN_NEEDED,
    Answer,
    Asked,
    Caller,
    CallFailed,
    CallLost,
    Configuration,
    ServerUnavailable,
    Tokens,
)
from llm_worker.mcp.content import images_of, response_of, structured_of
from llm_worker.mcp.http import NOT_SENT, HttpServer
from llm_worker.mcp.lenient_results import lenient
from llm_worker.mcp.listing_pages import Listing, list_catalog, list_tools
from llm_worker.mcp.stdio import StdioServer

Found = TypeVar("Found")

# To start, and to agree on a revision of the protocol. Servers that npx or uvx installs first take longest.
START_S: Final = 60.0
LIST_S: Final = 30.0
# For a resource, or a prompt.
ASK_S: Final = 30.0
# For the server to confirm that it will announce changes.
LISTEN_S: Final = 2.0
MAX_MESSAGE_CHARACTERS: Final = 1_000
_CLOSE_S: Final = 10.0
# Messages of the SDK: the connection ended (servers use its error code too); the status is none of the protocol's.
_CLOSED: Final = "Connection closed"
_ERROR_RESPONSE: Final = "Server returned an error response"
_NO_PROTOCOL: Final = "The server does not speak the protocol."
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
            raise self._unavailable(error) from error
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
        text = response_of(result, images)
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
            return await asked
        except MCPError as error:
            raise self._failure(error) from error
        except (httpx2.HTTPError, OSError) as error:
            raise self._lost() from error
        except (RuntimeError, ValidationError) as error:
            # The messages of these errors repeat what the server sent.
            raise CallFailed("The server answered what the protocol does not allow.") from error

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
            self._fail(self._unavailable(error))
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

    def _failure(self, error: MCPError) -> Exception:
        message, server = error.error.message, self._server
        if isinstance(server, HttpServer):
            if server.has_lost_session and "session" in message.lower():
                return ServerUnavailable("The server has forgotten the session.")
            if message == _ERROR_RESPONSE:
                return _refused(server)
        is_closed = error.error.code == CONNECTION_CLOSED and message == _CLOSED
        if is_closed or server.problem:
            return self._lost()
        return CallFailed(message[:MAX_MESSAGE_CHARACTERS])

    def _lost(self) -> CallLost:
        self._is_lost = True
        return CallLost(self._server.problem or "The connection to the server ended.")

    def _fail(self, unavailable: ServerUnavailable) -> None:
        if not self._ready.done():
            self._ready.set_exception(unavailable)
            self._ready.exception()  # nobody may be waiting

    def _unavailable(self, error: BaseException) -> ServerUnavailable:
        if isinstance(self._server, StdioServer):
            detail = self._server.detail or str(_first(error))[:MAX_MESSAGE_CHARACTERS]
            return ServerUnavailable(self._server.problem or _NO_PROTOCOL, detail)
        status = self._server.status
        detail = f"Its status was {status}." if 400 <= status < NOT_SENT else ""
        problem = self._server.problem or (SIGN_IN_NEEDED if self._server.wants_sign_in else _NO_PROTOCOL)
        return ServerUnavailable(problem, detail, needs_sign_in=self._server.needs_sign_in)


async def _accept(*_: object) -> None:
    pass


def _refused(server: HttpServer) -> Exception:
    if server.status == NOT_SENT:
        return ServerUnavailable(server.problem)
    if server.status == HTTPStatus.UNAUTHORIZED:
        return ServerUnavailable(server.problem or SIGN_IN_NEEDED, needs_sign_in=True)
    if server.status < 500:
        return CallFailed(f"The server refused the call (status {server.status}).")
    return CallLost(f"The server failed (status {server.status}).")


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
