"""A client that stays subscribed to one session: after a lost connection it reconnects with its cursors.

It records every frame of every connection for history.py.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable
from typing import Any

from websockets.exceptions import WebSocketException

from tests.e2e.client import Client, ContractError, Frame, RunView, Socket
from tests.faults.history import ClientLog, SocketLog

LIMIT_S = 60.0
RECONNECT_S = 0.1


class Watcher:
    """views: the displayed state of each run, by id. close_codes: of the ended connections, oldest first."""

    def __init__(self, client: Client, session: str, name: str) -> None:
        self.session = session
        self.views: dict[str, RunView] = {}
        self.stopped_turns: dict[str, str] = {}
        self.log = ClientLog(name, [])
        self.close_codes: list[int] = []
        self.socket: Socket | None = None
        self._client = client
        self._known: set[str] = set()
        self._n: int | None = None
        self._failure: BaseException | None = None
        self._following: asyncio.Task[None] | None = None
        self._has_left = False

    async def start(self) -> None:
        """Connect; returns when subscribed."""
        self._has_left = False
        self._following = asyncio.create_task(self._follow())
        await self.until(lambda: self.socket is not None, "the subscription")

    async def stop(self) -> None:
        # A connection that breaks at this moment may replace the cancellation by its own exception.
        self._has_left = True
        if self._following:
            self._following.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._following
            self._following = None

    def expect(self, *runs: str) -> None:
        """Announce runs whose end must be received even if they start while the client is disconnected."""
        self._known.update(runs)

    async def until(self, condition: Callable[[], Any], what: str, limit_s: float = LIMIT_S) -> Any:
        limit = time.monotonic() + limit_s
        while not (value := condition()):
            self.raise_failure()
            assert time.monotonic() < limit, f"{self.log.name}: {what} not within {limit_s} s; {self.views}"
            await asyncio.sleep(0.005)
        return value

    def raise_failure(self) -> None:
        """Raise the server's violation of the client contract, or the client's own failure, if there was one."""
        if self._failure:
            raise self._failure
        if self._following and self._following.done() and not self._following.cancelled():
            self._following.result()

    async def showing(self, run: str, text: str = "") -> RunView:
        """Wait until the run is displayed with `text` in its answer."""
        await self.until(lambda: run in self.views and text in self.views[run].text, f"{text!r} of {run}")
        return self.views[run]

    async def ended(self, run: str, limit_s: float = LIMIT_S) -> RunView:
        await self.until(
            lambda: run in self.views and self.views[run].stop_reason, f"the end of {run}", limit_s
        )
        return self.views[run]

    def of_type(self, kind: str) -> list[Frame]:
        return [frame for log in self.log.sockets for _, frame in log.frames if frame["type"] == kind]

    async def _follow(self) -> None:
        while self._failure is None and not self._has_left:
            socket = None
            with contextlib.suppress(OSError, WebSocketException, TimeoutError):
                async with self._client.socket() as socket:
                    await self._stay(socket)
            await asyncio.sleep(self.pause_s(socket))

    def pause_s(self, ended: Socket | None) -> float:
        """Seconds until the next try.  ended: the connection that ended; None: it could not be made."""
        return RECONNECT_S

    async def _stay(self, socket: Socket) -> None:
        socket.runs, socket.stopped_turns = self.views, self.stopped_turns
        cursors = self._cursors()
        since = {} if self._n is None else {"since": self._n}
        self.log.sockets.append(
            SocketLog(socket.frames, cursors, {} if self._n is None else {self.session: self._n})
        )
        try:
            # The subscription fails while Redis is unavailable or web shuts down; the caller retries.
            with contextlib.suppress(ContractError):
                await socket.subscribe(self.session, cursors=cursors, **since)
                self.socket = socket
                await asyncio.wait({socket._reader})
        finally:
            self._failure = socket._failure
            self._n = socket.n
            self._known |= {run["id"] for frame in socket.of_type("turn_started") for run in frame["runs"]}
            self.socket = None
            if socket._reader.done():
                self.close_codes.append(socket.connection.close_code or 1006)

    def _cursors(self) -> dict[str, Frame]:
        """The cursors of all runs whose end was not received; from the start for runs not seen yet."""
        views = {run: self.views.get(run) or RunView() for run in self._known | self.views.keys()}
        return {
            run: {"attempt": view.attempt, "seq": view.seq}
            for run, view in views.items()
            if view.stop_reason is None
        }
