"""Connections: the servers that this process is connected to. Imports the SDK when the first of them is needed.

A server that cannot be reached is tried again after a growing delay; a server that nobody uses is disconnected.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from chat.infrastructure.background import start_task
from features.mcp.client.configuration import (
    Answer,
    Caller,
    Configuration,
    NoTokens,
    ServerUnavailable,
    Tokens,
)

if TYPE_CHECKING:
    from mcp import Client

    from features.mcp.client.connection import Connection
    from features.mcp.client.listing_pages import Listing

Result = TypeVar("Result")

# Processes of servers are children of this process.
MAX_CONNECTIONS: Final = 32
# Listings at a time, so that many servers that are entered at once leave connections for calls.
MAX_LISTINGS: Final = 16
IDLE_S: Final = 300.0
FIRST_WAIT_S: Final = 1.0
LONGEST_WAIT_S: Final = 60.0
CHANGES_S: Final = 10.0
_PRUNE_S: Final = 15.0


class _Failure(NamedTuple):
    """A server that could not be reached. until: by the loop's clock; before that it is not tried again."""

    until: float
    wait_s: float
    unavailable: ServerUnavailable


class Connections:
    """The open connections. on_change: called with the id of a server when one of its lists changed.
    tokens: the source of the tokens of credentials.
    """

    def __init__(
        self, on_change: Callable[[str], None] = lambda _: None, tokens: Tokens | None = None
    ) -> None:
        self._on_change = on_change
        self._tokens = tokens or NoTokens()
        self._open: dict[Configuration, Connection] = {}
        self._failures: dict[Configuration, _Failure] = {}
        self._closing: set[asyncio.Task[None]] = set()
        # When a change of each server was last announced, and the changes that will be announced.
        self._announced_at: dict[str, float] = {}
        self._pending_changes: dict[str, asyncio.TimerHandle] = {}
        self._pruning: asyncio.Task[None] | None = None
        self._listings = asyncio.Semaphore(MAX_LISTINGS)

    async def list_tools(self, configuration: Configuration) -> Listing:
        """List a server's tools. A server that has failed is tried again at once, because somebody waits for the list.
        Waits while others are listed. Raises ServerUnavailable.
        """
        async with self._listings:
            self._failures.pop(configuration, None)
            return await self._use(configuration, lambda connection: connection.list_tools())

    async def call(
        self,
        configuration: Configuration,
        tool: str,
        arguments: Mapping[str, Any],
        caller: Caller,
    ) -> Answer:
        """Call a tool, as Connection.call does. Raises ServerUnavailable, CallFailed, CallLost, Asked."""
        return await self._use(configuration, lambda connection: connection.call(tool, arguments, caller))

    async def ask(
        self, configuration: Configuration, question: Callable[[Client], Awaitable[Result]]
    ) -> Result:
        """Ask a server, as Connection.ask does. Raises ServerUnavailable, CallFailed, CallLost."""
        return await self._use(configuration, lambda connection: connection.ask(question))

    async def _use(
        self, configuration: Configuration, ask: Callable[[Connection], Awaitable[Result]]
    ) -> Result:
        """Return the result of `ask` for a connection to the server; an old connection that fails is replaced once.
        Raises the errors of `ask`.
        """
        had_connection = configuration in self._open
        try:
            return await self._use_once(configuration, ask)
        except ServerUnavailable:
            if not had_connection:
                raise
        # The server has forgotten the connection, and has executed nothing: a new connection is tried.
        self._failures.pop(configuration, None)
        return await self._use_once(configuration, ask)

    async def _use_once(
        self, configuration: Configuration, ask: Callable[[Connection], Awaitable[Result]]
    ) -> Result:
        connection = await self._connect(configuration)
        try:
            result = await ask(connection)
        except ServerUnavailable as unavailable:
            self._record_failure(connection, unavailable)
            raise
        finally:
            self._release(connection)
        self._failures.pop(configuration, None)
        return result

    async def close(self) -> None:
        """Close all connections. Returns when the processes of the servers have ended."""
        if self._pruning:
            self._pruning.cancel()
        for waiting in self._pending_changes.values():
            waiting.cancel()
        await asyncio.gather(*(connection.close() for connection in self._open.values()), *self._closing)
        self._open.clear()

    async def _connect(self, configuration: Configuration) -> Connection:
        """Return a connection that counts this use, until _release ends it. Raises ServerUnavailable."""
        now = asyncio.get_running_loop().time()
        if (failure := self._failures.get(configuration)) and failure.until > now:
            raise failure.unavailable.again()
        connection_type = await _connection_type()
        connection = self._open.get(configuration)
        if connection is None or not connection.is_open:
            if connection:
                self._retire(connection)
            self._make_room(configuration)
            connection = connection_type(configuration, self._on_list_changed, self._tokens)
            self._open[configuration] = connection
            self._pruning = self._pruning or start_task("mcp pruning", self._keep_pruning)
        connection.calls += 1
        return connection

    def _release(self, connection: Connection) -> None:
        connection.calls -= 1
        connection.used_at = asyncio.get_running_loop().time()
        if not connection.calls and self._open.get(connection.configuration) is not connection:
            self._disconnect(connection)

    def _record_failure(self, connection: Connection, unavailable: ServerUnavailable) -> None:
        configuration = connection.configuration
        if self._open.get(configuration) is connection:
            before = self._failures.get(configuration)
            wait_s = min(before.wait_s * 2, LONGEST_WAIT_S) if before else FIRST_WAIT_S
            until = asyncio.get_running_loop().time() + wait_s
            self._failures[configuration] = _Failure(until, wait_s, unavailable)
            self._retire(connection)

    def _make_room(self, configuration: Configuration) -> None:
        """Retire idle connections to earlier revisions of the server, and the longest idle one if there are too many.
        Raises ServerUnavailable if all are in use.
        """
        anybodys = configuration._replace(credential="")
        for other in list(self._open.values()):
            same = other.configuration.server == configuration.server
            is_earlier = same and other.configuration._replace(credential="") != anybodys
            if is_earlier and not other.calls:
                self._retire(other)
        if len(self._open) < MAX_CONNECTIONS:
            return
        idle = [connection for connection in self._open.values() if not connection.calls]
        if not idle:
            raise ServerUnavailable("Too many servers are in use at the moment.", is_local=True)
        self._retire(min(idle, key=lambda connection: connection.used_at))

    async def _keep_pruning(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(_PRUNE_S)
            for connection in list(self._open.values()):
                is_idle = not connection.calls and loop.time() - connection.used_at > IDLE_S
                if is_idle or not connection.is_open:
                    self._retire(connection)
            for configuration, failure in list(self._failures.items()):
                if failure.until + LONGEST_WAIT_S < loop.time():
                    del self._failures[configuration]

    def _retire(self, connection: Connection) -> None:
        """Keep a connection from being used again; it is closed after its last call."""
        if self._open.get(connection.configuration) is connection:
            del self._open[connection.configuration]
            if not connection.calls:
                self._disconnect(connection)

    def _disconnect(self, connection: Connection) -> None:
        closing = asyncio.create_task(connection.close(), name="mcp closing")
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)

    def _on_list_changed(self, server: str) -> None:
        """Announce a change at most once in CHANGES_S, however often a server reports one."""
        loop = asyncio.get_running_loop()
        if server not in self._pending_changes:
            wait_s = max(0.0, self._announced_at.get(server, 0.0) + CHANGES_S - loop.time())
            self._pending_changes[server] = loop.call_later(wait_s, self._announce_change, server)

    def _announce_change(self, server: str) -> None:
        del self._pending_changes[server]
        self._announced_at[server] = asyncio.get_running_loop().time()
        self._on_change(server)


async def _connection_type() -> type[Connection]:
    """Import the SDK in a thread: it takes a second, during which runs of this process go on."""
    module = await asyncio.to_thread(import_module, "features.mcp.client.connection")
    found: type[Connection] = module.Connection
    return found
