"""Redis connections of this process: one asyncio client per event loop, one client for threads.

Timeouts are short so that a caller fails soon if Redis is unreachable; only pub/sub connections wait without limit.
"""

import asyncio
from functools import cache
from typing import Any, Final
from weakref import WeakKeyDictionary

import redis
from django.conf import settings
from redis import asyncio as aioredis
from redis.asyncio.connection import AbstractConnection
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import ExponentialBackoff
from redis.retry import Retry

from chat.infrastructure.redis_connection import connection_pool

CONNECT_TIMEOUT_S: Final = 2.0
SOCKET_TIMEOUT_S: Final = 5.0
_BACKOFF: Final = ExponentialBackoff(cap=0.2, base=0.02)
_COMMON: Final[dict[str, Any]] = {
    "socket_connect_timeout": CONNECT_TIMEOUT_S,
    "socket_keepalive": True,
    "health_check_interval": 15,
}
_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, aioredis.Redis] = WeakKeyDictionary()


def async_redis() -> aioredis.Redis:
    """Return the client of the running event loop."""
    loop = asyncio.get_running_loop()
    client = _clients.get(loop)
    if client is None:
        client = _clients[loop] = _client(socket_timeout=SOCKET_TIMEOUT_S, retry=AsyncRetry(_BACKOFF, 2))
    return client


async def close_async_redis() -> None:
    """Close the running loop's client, if it has one. The next async_redis() makes a new one."""
    client = _clients.pop(asyncio.get_running_loop(), None)
    if client is not None:
        await client.aclose()


def new_subscriber_redis() -> aioredis.Redis:
    """Return a client for the caller's own pub/sub connection. It reads without a timeout and does not retry."""
    return _client(socket_timeout=None, retry=AsyncRetry(_BACKOFF, 0))


def new_subscriber_connection() -> AbstractConnection:
    """Return a bare connection for the hub, which parses publications itself.
    A PubSub object would cost three times as much per publication."""
    pool = connection_pool(
        settings.REDIS_URL, socket_timeout=None, protocol=2, retry=AsyncRetry(_BACKOFF, 0), **_COMMON
    )
    connection: AbstractConnection = pool.make_connection()  # type: ignore[no-untyped-call]
    return connection


@cache
def sync_redis() -> redis.Redis:
    """Return the client for threads."""
    return redis.Redis.from_url(
        settings.REDIS_URL, socket_timeout=SOCKET_TIMEOUT_S, retry=Retry(_BACKOFF, 2), **_COMMON
    )


def _client(**options: Any) -> aioredis.Redis:
    """Return a client that owns its pool."""
    return aioredis.Redis.from_pool(connection_pool(settings.REDIS_URL, **options, **_COMMON))
