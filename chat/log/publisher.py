"""Carries what the runs of one worker process emit to the packet log: all runs' news in one pipeline.

It waits for a window that grows with the load, from nothing to 40 ms, survives Redis going away by keeping
what is not confirmed, and resends what Redis lost. It refuses to drop anything.
"""

import asyncio
import hashlib
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from hiredis import pack_command
from redis.asyncio import Redis
from redis.exceptions import NoScriptError, RedisError, ResponseError

from chat.fault_points import reach
from chat.log.outlet import Outlet, StaleAttempt
from chat.metrics.counted import APPEND_S
from chat.protocol import RunAddress
from chat.stream import APPEND, appended

__all__ = ["Outlet", "Publisher", "StaleAttempt"]

# Nobody sees 40 ms, and it halves the CPU of a loaded system.
MAX_WINDOW_S: Final = 0.040
# Emits per second and process below which nothing waits, and from which on the whole window is used.
IDLE_RATE: Final = 300.0
BUSY_RATE: Final = 1500.0
# How long the rate remembers.
RATE_MEMORY_S: Final = 0.5
RETRY_MIN_S: Final = 0.05
RETRY_MAX_S: Final = 1.0

_SHA: Final = hashlib.sha1(APPEND.encode(), usedforsecurity=False).hexdigest()

logger = logging.getLogger(__name__)


class Publisher:
    """One per worker process, on its event loop."""

    def __init__(self, redis: Redis, *, max_window_s: float = MAX_WINDOW_S) -> None:
        self._redis = redis
        self._max_window_s = max_window_s
        self._dirty: dict[Outlet, None] = {}
        self._urgent: dict[Outlet, None] = {}
        self._news = asyncio.Event()
        self._hurry = asyncio.Event()
        self._closing = False
        self._task: asyncio.Task[None] | None = None
        self._emits = 0
        self._rate = 0.0
        self._measured_at = 0.0
        self._drained_at = 0.0

    async def start(self) -> None:
        self._task = asyncio.create_task(self._keep_draining(), name="publisher")

    async def close(self) -> None:
        """Send what waits; what Redis does not take at the first try is lost with the process."""
        self._closing = True
        self._news.set()
        self._hurry.set()
        if self._task:
            await self._task
        with suppress(RedisError, OSError):
            while self._news.is_set():
                await self._drain(self._take())

    def open(self, address: RunAddress, *, on_stale: Callable[[], None]) -> Outlet:
        """The outlet of one attempt. on_stale: called once, when the log belongs to a newer attempt."""
        return Outlet(address, self, on_stale)

    # For outlets

    def has_news(self, outlet: Outlet, *, urgent: bool) -> None:
        self._emits += 1
        if urgent:
            self._urgent[outlet] = None
            self._hurry.set()
        elif outlet not in self._dirty:
            self._dirty[outlet] = None
        else:
            return
        self._news.set()

    def forget(self, outlet: Outlet) -> None:
        self._dirty.pop(outlet, None)
        self._urgent.pop(outlet, None)

    # The draining task

    async def _keep_draining(self) -> None:
        retry_s = RETRY_MIN_S
        while not self._closing:
            await self._news.wait()
            await self._wait_for_the_window()
            batch = self._take()
            try:
                await self._drain(batch)
                retry_s = RETRY_MIN_S
            except (RedisError, OSError) as error:
                logger.warning("packet log unreachable, %d runs wait: %s", len(batch), error)
                self._put_back(batch)
                await asyncio.sleep(retry_s)
                retry_s = min(RETRY_MAX_S, retry_s * 2)

    async def _wait_for_the_window(self) -> None:
        now = asyncio.get_running_loop().time()
        due_s = self._drained_at + self._window_s(now) - now
        if due_s > 0 and not self._urgent and not self._closing:
            try:
                async with asyncio.timeout(due_s):
                    await self._hurry.wait()
            except TimeoutError:
                pass

    def _window_s(self, now: float) -> float:
        """Measure the rate since the last look and return the window that goes with it."""
        elapsed = max(now - self._measured_at, 1e-4)
        self._measured_at = now
        weight = min(1.0, elapsed / RATE_MEMORY_S)
        self._rate += weight * (self._emits / elapsed - self._rate)
        self._emits = 0
        busy = (self._rate - IDLE_RATE) / (BUSY_RATE - IDLE_RATE)
        return self._max_window_s * min(1.0, max(0.0, busy))

    def _take(self) -> list[Outlet]:
        """The outlets to drain now: the urgent ones alone, or everything once the window is over."""
        self._hurry.clear()
        now = asyncio.get_running_loop().time()
        if self._urgent:
            batch = list(self._urgent)
            for outlet in batch:
                self._dirty.pop(outlet, None)
            self._urgent.clear()
        else:
            batch = list(self._dirty)
            self._dirty.clear()
            self._drained_at = now
        if not self._dirty:
            self._news.clear()
        return batch

    async def _drain(self, batch: list[Outlet]) -> None:
        """Send each outlet's next append in one pipeline; those with more to say are taken again."""
        asked = [(outlet, command) for outlet in batch if (command := outlet.next_append())]
        if not asked:
            return
        reach("before_append")
        with APPEND_S.time():
            replies = await self._append([command for _, command in asked])
        reach("after_append")
        for (outlet, _), reply in zip(asked, replies, strict=True):
            outlet.confirm(appended(reply))
            if outlet.has_more:
                self._dirty[outlet] = None
                self._news.set()

    async def _append(self, commands: list[list[Any]]) -> list[Any]:
        try:
            return await self._evalsha(commands)
        except NoScriptError:
            # A restarted or flushed Redis has forgotten the script; repeating the others is harmless.
            await self._redis.script_load(APPEND)
            return await self._evalsha(commands)

    async def _evalsha(self, commands: list[list[Any]]) -> list[Any]:
        """All commands in one write. On a bare connection, packed by hiredis: a Pipeline packs and unpacks in
        Python, which was half of what publishing cost."""
        if not commands:
            return []
        pool = self._redis.connection_pool
        connection = await pool.get_connection()  # type: ignore[no-untyped-call]
        are_all_read = False
        try:
            packed = b"".join([pack_command(("EVALSHA", _SHA, 2, *command)) for command in commands])
            await connection.send_packed_command([packed], check_health=False)
            replies = [await _reply(connection) for _ in commands]
            are_all_read = True
        finally:
            if not are_all_read:  # what is still to be read would be taken for the answer to something else
                await connection.disconnect(nowait=True)
            await pool.release(connection)
        for reply in replies:
            if isinstance(reply, Exception):
                raise reply
        return replies

    def _put_back(self, batch: list[Outlet]) -> None:
        for outlet in batch:
            if outlet.has_more:
                self._dirty[outlet] = None
                self._news.set()


async def _reply(connection: Any) -> Any:
    try:
        return await connection.read_response()
    except ResponseError as error:
        return error
