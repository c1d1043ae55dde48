"""Stopping a run from any process: a key that is never cleared, and one control channel that wakes the worker.

The key is per run, so a stop can neither be lost by arriving early nor hit a later run; a run that its user lets go on after
a stop has a key for what follows (part_of). The caller
moves the row to `stopping` (chat/runs/cancellation.py).
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Final

from redis.asyncio.client import PubSub
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

from chat.infrastructure.background import start_task
from chat.infrastructure.redis_client import async_redis, new_subscriber_redis, sync_redis
from chat.protocol.tasks import CONTROL_CHANNEL

# Longer than any run may take.
TTL_S: Final = 3600
RECONNECT_S: Final = 0.2
# A subscription on which nothing was read for two of these periods, not even the answer to a PING, is replaced: a peer
# that hangs, or a host that has vanished, closes no connection.
PING_EVERY_S: Final = 5.0

logger = logging.getLogger(__name__)


def part_of(run_id: Any, continuations: int) -> str:
    """Name what a stop ends: the run, or what it has been since its user let it go on."""
    return f"{run_id}:{continuations}" if continuations else str(run_id)


def run_of(part: str) -> str:
    return part.partition(":")[0]


def revoke(session_id: Any, part: Any) -> None:
    """Signal the worker that executes this run, now or later, to stop it. part: from part_of. Raises RedisError."""
    with sync_redis().pipeline(transaction=True) as pipe:
        pipe.set(key(session_id, part), 1, ex=TTL_S)
        pipe.publish(CONTROL_CHANNEL, str(part))
        pipe.execute()


async def is_revoked(session_id: Any, part: Any) -> bool:
    return bool(await async_redis().exists(key(session_id, part)))


def key(session_id: Any, part: Any) -> str:
    return f"turnwire:{{{session_id}}}:run:{part}:revoked"


class RevocationListener:
    """A worker process's subscription to the control channel.

    on_revoked: called on the event loop with the part (part_of) of every run that is stopped, in this process or another.
    on_reconnected: called after the connection was lost and is back; revocations in between were missed, so
    the caller checks is_revoked for its runs.
    """

    def __init__(
        self, on_revoked: Callable[[str], None], on_reconnected: Callable[[], None] = lambda: None
    ) -> None:
        self._on_revoked = on_revoked
        self._on_reconnected = on_reconnected
        self._listening = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Subscribe; return when Redis has confirmed the subscription. Waits while Redis is unreachable."""
        self._task = start_task("revocations", self._keep_listening)
        await self._listening.wait()

    async def close(self) -> None:
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _keep_listening(self) -> None:
        while True:
            try:
                await self._listen()
            except (RedisError, OSError) as error:
                logger.warning("control channel lost, subscribing again: %s", error)
                await asyncio.sleep(RECONNECT_S)

    async def _listen(self) -> None:
        client = new_subscriber_redis()
        try:
            async with client.pubsub() as pubsub:
                async with asyncio.timeout(2 * PING_EVERY_S):  # its peer may accept it and never answer
                    await pubsub.subscribe(CONTROL_CHANNEL)
                await self._read(pubsub)
        finally:
            await client.aclose()

    async def _read(self, pubsub: PubSub) -> None:
        """Read messages until the connection breaks, or its peer does not answer. Raises RedisError."""
        clock = asyncio.get_running_loop().time
        read_at = clock()
        while True:
            message = await pubsub.get_message(timeout=PING_EVERY_S)
            if message is not None:
                read_at = clock()
                self._take(message)
            elif clock() - read_at > 2 * PING_EVERY_S:
                raise RedisTimeoutError("the control channel does not answer")
            else:
                await pubsub.ping()

    def _take(self, message: dict[str, Any]) -> None:
        if message["type"] == "message":
            self._on_revoked(message["data"].decode())
        elif message["type"] == "subscribe":
            if self._listening.is_set():
                self._on_reconnected()
            self._listening.set()
