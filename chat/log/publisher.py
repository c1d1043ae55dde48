"""Carries what the runs of one worker process emit to the packet log: all runs' news in one pipeline.

It keeps to the process's flush_window (flush_window.py), survives Redis going away by keeping what is not confirmed, and resends
what Redis lost. It refuses to drop anything.
"""

import asyncio
import hashlib
import logging
import math
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from hiredis import pack_command
from redis.asyncio import Redis
from redis.exceptions import NoScriptError, RedisError, ResponseError

from chat.infrastructure.fault_points import reach
from chat.infrastructure.redis_client import SOCKET_TIMEOUT_S
from chat.log.flush_window import FlushWindow
from chat.log.producer import PacketProducer, StaleAttempt
from chat.log.stream import APPEND, appended
from chat.metrics.counters import APPEND_S
from chat.protocol.wire import RunAddress

__all__ = ["PacketProducer", "Publisher", "StaleAttempt"]

# For one pipeline, as every client's.
REPLIES_TIMEOUT_S: Final = SOCKET_TIMEOUT_S
RETRY_MIN_S: Final = 0.05
RETRY_MAX_S: Final = 1.0

_SHA: Final = hashlib.sha1(APPEND.encode(), usedforsecurity=False).hexdigest()

logger = logging.getLogger(__name__)


class Publisher:
    """One per worker process, on its event loop."""

    def __init__(self, redis: Redis, flush_window: FlushWindow | None = None) -> None:
        self._redis = redis
        self._flush_window = flush_window or FlushWindow()
        self._dirty: dict[PacketProducer, None] = {}  # wait for the window
        self._ready: dict[PacketProducer, None] = {}
        self._is_ready = asyncio.Event()
        self._has_asked = False  # for the window
        self._closing = False
        self._task: asyncio.Task[None] | None = None
        self._connection = _connection_of(redis)

    async def start(self) -> None:
        self._task = asyncio.create_task(self._keep_draining(), name="publisher")

    async def close(self) -> None:
        """Send what waits; what Redis does not take at the first try is lost with the process."""
        self._closing = True
        self._is_ready.set()
        if self._task:
            await self._task
        self._make_ready()
        with suppress(RedisError, OSError):
            while batch := self._take():
                await self._drain(batch)
                self._make_ready()
        await self._connection.disconnect()

    def open(self, address: RunAddress, *, on_stale: Callable[[], None]) -> PacketProducer:
        """The producer of one attempt. on_stale: called once, when the log belongs to a newer attempt."""
        return PacketProducer(address, self, on_stale)

    # For producers

    def schedule(self, producer: PacketProducer, *, urgent: bool) -> None:
        if urgent:
            self._dirty.pop(producer, None)
            self._ready[producer] = None
            self._is_ready.set()
        elif producer not in self._ready:
            self._dirty[producer] = None
            if not self._has_asked:
                self._has_asked = True
                self._flush_window.call_in_next_window(self._make_ready)

    def unschedule(self, producer: PacketProducer) -> None:
        self._dirty.pop(producer, None)
        self._ready.pop(producer, None)

    # The draining task

    async def _keep_draining(self) -> None:
        retry_s = RETRY_MIN_S
        while not self._closing:
            await self._is_ready.wait()
            batch = self._take()
            try:
                await self._drain(batch)
                retry_s = RETRY_MIN_S
            except (RedisError, OSError) as error:
                logger.warning("packet log unreachable, %d runs wait: %s", len(batch), error)
                self._put_back(batch)
                await asyncio.sleep(retry_s)
                retry_s = min(RETRY_MAX_S, retry_s * 2)

    def _make_ready(self) -> None:
        """The window has opened."""
        self._has_asked = False
        self._ready |= self._dirty
        self._dirty.clear()
        if self._ready:
            self._is_ready.set()

    def _take(self) -> list[PacketProducer]:
        batch = list(self._ready)
        self._ready.clear()
        self._is_ready.clear()
        return batch

    async def _drain(self, batch: list[PacketProducer]) -> None:
        """Send each producer's next append in one pipeline; those with more to say are taken again."""
        asked = [(producer, command) for producer in batch if (command := producer.next_append())]
        if not asked:
            return
        reach("before_append")
        with APPEND_S.time():
            replies = await self._append([command for _, command in asked])
        reach("after_append")
        for (producer, _), reply in zip(asked, replies, strict=True):
            producer.confirm(appended(reply))
            if producer.has_more and producer not in self._dirty:
                self.schedule(producer, urgent=True)

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
        connection = self._connection
        are_all_read = False
        try:
            packed = b"".join([pack_command(("EVALSHA", _SHA, 2, *command)) for command in commands])
            async with asyncio.timeout(REPLIES_TIMEOUT_S):
                await connection.send_packed_command([packed], check_health=False)
                replies = [await _reply(connection) for _ in commands]
            are_all_read = True
        finally:
            if not are_all_read:  # what is still to be read would be taken for the answer to something else
                await connection.disconnect(nowait=True)
        for reply in replies:
            if isinstance(reply, Exception):
                raise reply
        return replies

    def _put_back(self, batch: list[PacketProducer]) -> None:
        for producer in batch:
            if producer.has_more:
                self.schedule(producer, urgent=True)


def _connection_of(redis: Redis) -> Any:
    """One of its own: taking one from the pool and giving it back costs as much as what is said on it. It connects by
    itself when something is sent; what waits for it has one limit for all, which costs less than one for each."""
    connection: Any = redis.connection_pool.make_connection()  # type: ignore[no-untyped-call]
    connection.socket_timeout = None
    return connection


async def _reply(connection: Any) -> Any:
    """Without a timeout of its own, which costs more than the reply."""
    try:
        return await connection.read_response(timeout=math.inf)
    except ResponseError as error:
        return error
