"""Counts the open sockets of each user across all web processes, and admits no more than MAX_SOCKETS_PER_USER.

Redis holds one sorted set per user: an entry per socket, with the time at which it expires. Each process renews its own
entries, so the entries of a killed process expire, and entries that an emptied Redis has lost come back.
"""

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import uuid4

from django.conf import settings
from redis.exceptions import RedisError

from chat.infrastructure.background import start_task
from chat.infrastructure.redis_client import async_redis, sync_redis

logger = logging.getLogger(__name__)

RENEW_S: Final = 10.0
# Misses two renewals: a process that is only busy keeps its entries.
TTL_S: Final = 30
# Users renewed in one round trip, during which the process does little else.
USERS_AT_ONCE: Final = 100
# A new socket does not wait longer for Redis: it is admitted then, and counted at the next renewal.
ADMISSION_TIMEOUT_S: Final = 2.0

# KEYS: set. ARGV: limit (0: none), time to live in seconds, entry... Returns 1 if the entries are in the set.
_ENTER: Final = """
local now = redis.call('TIME')[1] + 0
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if ARGV[1] + 0 > 0 and redis.call('ZCARD', KEYS[1]) >= ARGV[1] + 0 then return 0 end
for at = 3, #ARGV do redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[at]) end
redis.call('EXPIRE', KEYS[1], ARGV[2])
return 1
"""


def registry_key(user_id: int) -> str:
    return f"turnwire:user:{user_id}:sockets"


def count_now(user_id: int) -> int:
    """Count the user's open sockets, of all processes. For threads. Raises RedisError."""
    return sync_redis().zcount(registry_key(user_id), int(time.time()), "+inf")


class SocketRegistry:
    """The open sockets of one web process; close() at its end."""

    def __init__(self) -> None:
        self._users: dict[str, int] = {}  # by entry
        self._tasks: set[asyncio.Task[Any]] = set()
        self._renewing: asyncio.Task[None] | None = None

    async def admit(self, user_id: int) -> str | None:
        """Count one more socket. Returns its entry, for release(); None: the user has as many as allowed."""
        entry = uuid4().hex
        try:
            async with asyncio.timeout(ADMISSION_TIMEOUT_S):
                if not await _enter(user_id, settings.MAX_SOCKETS_PER_USER, [entry]):
                    return None
        except (RedisError, OSError) as error:  # TimeoutError is an OSError
            logger.warning("user %s: a socket is counted later: %s", user_id, error)
        self._users[entry] = user_id
        if self._renewing is None:
            self._renewing = start_task("socket registry", self._keep_renewing)
        return entry

    def release(self, entry: str) -> None:
        """Remove the entry of a closed socket. Without Redis, the entry expires."""
        user_id = self._users.pop(entry, None)
        if user_id is None:
            return
        task = asyncio.create_task(_leave(user_id, entry))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def renew(self) -> None:
        """Renew the entries of all open sockets. Raises RedisError, OSError."""
        by_user = defaultdict[int, list[str]](list)
        for entry, user_id in self._users.items():
            by_user[user_id].append(entry)
        users = list(by_user)
        for start in range(0, len(users), USERS_AT_ONCE):
            await self._renew_users({one: by_user[one] for one in users[start : start + USERS_AT_ONCE]})

    async def close(self) -> None:
        """Stop renewing entries. Those of sockets that are still open expire."""
        if self._renewing:
            self._renewing.cancel()
            self._renewing = None
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _renew_users(self, by_user: Mapping[int, Sequence[str]]) -> None:
        async with async_redis().pipeline(transaction=False) as pipe:
            for user_id, entries in by_user.items():
                pipe.eval(*_entering(user_id, 0, entries))
            await pipe.execute()
        for user_id, entries in by_user.items():
            for entry in entries:
                if entry not in self._users:  # released meanwhile
                    await _leave(user_id, entry)

    async def _keep_renewing(self) -> None:
        while True:
            await asyncio.sleep(RENEW_S)
            try:
                await self.renew()
            except (RedisError, OSError) as error:
                logger.warning("open sockets are renewed later: %s", error)


async def _enter(user_id: int, limit: int, entries: Sequence[str]) -> bool:
    return bool(await async_redis().eval(*_entering(user_id, limit, entries)))


def _entering(user_id: int, limit: int, entries: Sequence[str]) -> tuple[Any, ...]:
    return (_ENTER, 1, registry_key(user_id), limit, TTL_S, *entries)


async def _leave(user_id: int, entry: str) -> None:
    try:
        await async_redis().zrem(registry_key(user_id), entry)
    except (RedisError, OSError) as error:
        logger.warning("user %s: a closed socket counts until it expires: %s", user_id, error)
