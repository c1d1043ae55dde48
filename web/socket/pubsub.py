"""One Redis pub/sub connection, which reconnects and restores its channels.

A subscription is in force from Redis's confirmation, not from the command. Messages are passed on as bytes; the hub
parses them, and reads messages again that were missed during a reconnect.
"""

import asyncio
import logging
import math
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from redis.asyncio.connection import AbstractConnection
from redis.exceptions import RedisError

from chat.infrastructure.background import start_task
from chat.infrastructure.redis_client import new_subscriber_connection

RECONNECT_MIN_S: Final = 0.05
RECONNECT_MAX_S: Final = 1.0
# A connection on which nothing was read for two of these periods, not even the answer to a PING, is replaced: a peer
# that hangs, or a host that has vanished, closes none. Less than subscribers wait (JOIN_TIMEOUT_S of subscription.py).
PING_EVERY_S: Final = 2.0

logger = logging.getLogger(__name__)
Confirmation = asyncio.Future[None]


class PubSubConnection:
    """A connection that calls on_message(channel, payload) on the event loop for every message.

    It calls on_restored() when a lost connection is back and every channel is confirmed again, since messages may have
    been missed in between.
    """

    def __init__(self, on_message: Callable[[str, bytes], None], on_restored: Callable[[], None]) -> None:
        self._on_message = on_message
        self._on_restored = on_restored
        self._channels: set[str] = set()
        # Per channel, one group of waiters for every SUBSCRIBE that Redis has not confirmed, oldest first.
        self._unconfirmed: dict[str, deque[list[Confirmation]]] = {}
        self._commands: asyncio.Queue[tuple[str, ...]] = asyncio.Queue()
        self._is_restoring = False
        self._is_silent = False
        self._task: asyncio.Task[None] | None = None

    async def subscribe(self, channel: str) -> None:
        """Subscribe; return once Redis has confirmed, so that every later publication is received.
        Waits while Redis is unreachable.
        """
        if self._task is None:
            self._task = start_task("pubsub", self._keep_connected)
        confirmation: Confirmation = asyncio.get_running_loop().create_future()
        self._channels.add(channel)
        self._unconfirmed.setdefault(channel, deque()).append([confirmation])
        self._commands.put_nowait(("SUBSCRIBE", channel))
        await confirmation

    def unsubscribe(self, channel: str) -> None:
        self._channels.discard(channel)
        self._commands.put_nowait(("UNSUBSCRIBE", channel))

    async def close(self) -> None:
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    async def _keep_connected(self) -> None:
        retry_s = RECONNECT_MIN_S
        while True:
            connection = new_subscriber_connection()
            try:
                async with asyncio.timeout(2 * PING_EVERY_S):  # its peer may accept it and never answer
                    await connection.connect()  # type: ignore[no-untyped-call]
                retry_s = RECONNECT_MIN_S
                await self._serve(connection)
            except (RedisError, OSError) as error:
                logger.warning("pub/sub connection lost, connecting again: %s", error)
            finally:
                await connection.disconnect(nowait=True)
            self._is_restoring = True
            await asyncio.sleep(retry_s)
            retry_s = min(RECONNECT_MAX_S, retry_s * 2)

    async def _serve(self, connection: AbstractConnection) -> None:
        """Write commands and read messages until the connection breaks."""
        self._resubscribe_all()
        helpers = [asyncio.create_task(self._write(connection)), asyncio.create_task(self._watch(connection))]
        try:
            while True:
                # The tasks share the connection: the writer only writes, and only this loop reads.
                message = await connection.read_response(timeout=math.inf, push_request=True)
                self._is_silent = False
                self._take(message)
        finally:
            for helper in helpers:
                helper.cancel()

    def _resubscribe_all(self) -> None:
        """Queue one SUBSCRIBE per channel for a new connection; it settles every unconfirmed one before it."""
        self._commands = asyncio.Queue()
        unconfirmed = self._unconfirmed
        self._unconfirmed = {}
        for channel in self._channels:
            waiting = [each for group in unconfirmed.get(channel, ()) for each in group]
            self._unconfirmed[channel] = deque([waiting])
            self._commands.put_nowait(("SUBSCRIBE", channel))
        self._restored_if_confirmed()

    async def _write(self, connection: AbstractConnection) -> None:
        try:
            while True:
                await connection.send_command(*await self._commands.get(), check_health=False)
        except (RedisError, OSError):
            # The reader gets the same error and reconnects.
            await connection.disconnect(nowait=True)

    async def _watch(self, connection: AbstractConnection) -> None:
        """Disconnect a connection whose peer does not answer. The reader then reconnects."""
        silent_periods = 0
        while silent_periods < 2:
            self._is_silent = True
            self._commands.put_nowait(("PING",))
            await asyncio.sleep(PING_EVERY_S)
            silent_periods = silent_periods + 1 if self._is_silent else 0
        logger.warning("the pub/sub connection does not answer")
        await connection.disconnect(nowait=True)

    def _take(self, message: Any) -> None:
        if len(message) != 3:
            return  # the answer to a PING
        kind, channel, payload = message
        if kind == b"message":
            self._on_message(channel.decode(), payload)
        elif kind == b"subscribe":
            self._confirm(channel.decode())

    def _confirm(self, channel: str) -> None:
        groups = self._unconfirmed.get(channel)
        if groups:
            for confirmation in groups.popleft():
                if not confirmation.done():
                    confirmation.set_result(None)
        if not groups:
            self._unconfirmed.pop(channel, None)
        self._restored_if_confirmed()

    def _restored_if_confirmed(self) -> None:
        if self._is_restoring and not self._unconfirmed:
            self._is_restoring = False
            self._on_restored()
