"""Appends the packets of all runs of one worker process to their logs, in one pipeline per flush window.

Drops nothing: packets wait while Redis is unreachable, and what Redis has lost is sent again.
"""

import asyncio
import hashlib
import logging
import math
from collections.abc import Callable
from typing import Any, Final

from hiredis import pack_command
from redis.asyncio import Redis
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import NoScriptError, RedisError, ResponseError

from chat.infrastructure.background import start_task
from chat.infrastructure.fault_points import reach
from chat.infrastructure.redis_client import SOCKET_TIMEOUT_S
from chat.log.flush_window import FlushWindow
from chat.log.producer import PacketProducer, StaleAttempt
from chat.log.stream import APPEND, Argument, appended
from chat.metrics.counters import APPEND_S
from chat.protocol.wire import RunAddress

__all__ = ["PacketProducer", "Publisher", "StaleAttempt"]

# For all replies of one pipeline.
REPLIES_TIMEOUT_S: Final = SOCKET_TIMEOUT_S
RETRY_MIN_S: Final = 0.05
RETRY_MAX_S: Final = 1.0

_SHA: Final = hashlib.sha1(APPEND.encode(), usedforsecurity=False).hexdigest()

logger = logging.getLogger(__name__)


class Publisher:
    """The publisher of a worker process, on its event loop."""

    def __init__(self, redis: Redis, flush_window: FlushWindow | None = None) -> None:
        self._redis = redis
        self._flush_window = flush_window or FlushWindow()
        # Ordered sets of producers with packets to append.
        self._dirty: dict[PacketProducer, None] = {}  # wait for the flush window
        self._ready: dict[PacketProducer, None] = {}  # are appended next
        self._is_ready = asyncio.Event()
        self._awaits_window = False
        self._closing = False
        self._task: asyncio.Task[None] | None = None
        self._connection = _new_connection(redis)

    async def start(self) -> None:
        self._task = start_task("publisher", self._keep_draining)

    async def close(self) -> None:
        """Append the waiting packets. Packets that Redis does not accept at the first try are lost with the process."""
        self._closing = True
        self._is_ready.set()
        if self._task:
            await self._task
        self._make_ready()
        try:
            while batch := self._take():
                await self._drain(batch)
                self._make_ready()
        except (RedisError, OSError) as error:
            logger.warning("packets that wait are lost with the process: %s", error)
        await self._connection.disconnect()

    def open(self, address: RunAddress, *, on_stale: Callable[[], None]) -> PacketProducer:
        """Return the producer of one attempt. on_stale: called once, if another attempt owns the log."""
        return PacketProducer(address, self, on_stale)

    # FlushScheduler, for producers

    def schedule(self, producer: PacketProducer, *, urgent: bool) -> None:
        if urgent:
            self._dirty.pop(producer, None)
            self._ready[producer] = None
            self._is_ready.set()
        elif producer not in self._ready:
            self._dirty[producer] = None
            if not self._awaits_window:
                self._awaits_window = True
                self._flush_window.call_in_next_window(self._make_ready)

    def unschedule(self, producer: PacketProducer) -> None:
        self._dirty.pop(producer, None)
        self._ready.pop(producer, None)

    # The publisher task

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
                self._reschedule(batch)
                await asyncio.sleep(retry_s)
                retry_s = min(RETRY_MAX_S, retry_s * 2)
            except Exception:
                self._reschedule(batch)  # for this task when it starts again
                raise

    def _make_ready(self) -> None:
        """Schedule the producers that waited for the flush window, which has opened, for the next append."""
        self._awaits_window = False
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
        """Send the next append of each producer in one pipeline; reschedule producers that have more."""
        appends = [(producer, command) for producer in batch if (command := producer.next_append())]
        if not appends:
            return
        reach("before_append")
        with APPEND_S.time():
            replies = await self._append([command for _, command in appends])
        reach("after_append")
        for (producer, _), reply in zip(appends, replies, strict=True):
            producer.confirm(appended(reply))
            if producer.has_more and producer not in self._dirty:
                self.schedule(producer, urgent=True)

    async def _append(self, commands: list[list[Argument]]) -> list[list[int]]:
        try:
            return await self._evalsha(commands)
        except NoScriptError:
            # A restarted or flushed Redis does not have the script. Appends are idempotent: repeat all of them.
            await self._redis.script_load(APPEND)
            return await self._evalsha(commands)

    async def _evalsha(self, commands: list[list[Argument]]) -> list[list[int]]:
        """Send all commands in one write and read their replies.

        Uses a bare connection and hiredis: redis-py's Pipeline packs and parses in Python, which took half of the
        CPU of publishing.
        """
        if not commands:
            return []
        connection = self._connection
        are_all_read = False
        try:
            packed = b"".join([_pack(command) for command in commands])
            async with asyncio.timeout(REPLIES_TIMEOUT_S):
                await connection.send_packed_command([packed], check_health=False)
                replies = [await _read_reply(connection) for _ in commands]
            are_all_read = True
        finally:
            if not are_all_read:  # unread replies would be taken for those of later commands
                await connection.disconnect(nowait=True)
        for reply in replies:
            if isinstance(reply, Exception):
                raise reply
        return replies

    def _reschedule(self, batch: list[PacketProducer]) -> None:
        for producer in batch:
            if producer.has_more:
                self.schedule(producer, urgent=True)


def _pack(command: list[Argument]) -> bytes:
    packed: bytes = pack_command(("EVALSHA", _SHA, 2, *command))  # type: ignore[arg-type]  # stub: one argument
    return packed


def _new_connection(redis: Redis) -> AbstractConnection:
    """Make a connection outside of the pool, whose bookkeeping costs as much as an append.

    It connects when something is sent. It has no timeout per reply: REPLIES_TIMEOUT_S limits the whole pipeline.
    """
    connection: AbstractConnection = redis.connection_pool.make_connection()  # type: ignore[no-untyped-call]
    connection.socket_timeout = None
    return connection


async def _read_reply(connection: AbstractConnection) -> Any:
    """Read one reply. Without a separate timeout: arming one costs more than reading the reply."""
    try:
        return await connection.read_response(timeout=math.inf)
    except ResponseError as error:
        return error
