"""Redis connections of this process: one asyncio client per event loop, one client for threads.

Timeouts are short so that a caller fails soon if Redis is unreachable; only pub/sub connections wait without limit.
"""

import asyncio
from collections.abc import Iterable
from functools import cache
from typing import Any, Final
from weakref import WeakKeyDictionary

import redis
from django.conf import settings
from redis import asyncio as aioredis
from redis.asyncio import connection
from redis.asyncio.connection import AbstractConnection
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import ExponentialBackoff
from redis.exceptions import ConnectionError as ConnectionLost
from redis.retry import Retry

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


# The end of uvloop's message. Other RuntimeErrors are faults of the program and are raised unchanged.
CLOSED_TRANSPORT: Final = "the handler is closed"


class LossNoticed(connection.AbstractConnection):
    """A connection that notices its loss and the cancellation of its task.

    Callers and the retries of redis-py expect ConnectionError. uvloop raises RuntimeError when something is written to a
    connection that the peer has reset while it was idle, and redis-py does not notice the reset before it writes. On every
    other connection the same loss is an OSError.

    redis-py sends within asyncio.wait_for, which before Python 3.12 drops a cancellation that comes after the sending has
    ended or failed (https://github.com/python/cpython/issues/86296): a run that is stopped at that moment would go on.

    It raises ConnectionError where the library would raise the RuntimeError of a closed transport, and CancelledError
    where the library would go on.
    """

    async def send_packed_command(
        self, command: bytes | str | Iterable[bytes], check_health: bool = True
    ) -> None:
        task = asyncio.current_task()
        cancelled_before = task.cancelling() if task else 0
        # Reading raises OSError there, which the library already translates.
        try:
            await super().send_packed_command(command, check_health)
        except RuntimeError as error:
            if CLOSED_TRANSPORT not in str(error):
                raise
            raise ConnectionLost(f"The connection was lost while idle: {error}") from error
        finally:
            if task and task.cancelling() > cancelled_before:
                await self.disconnect(nowait=True)  # nobody will read the reply
                raise asyncio.CancelledError


class TcpConnection(LossNoticed, connection.Connection):
    pass


class TlsConnection(LossNoticed, connection.SSLConnection):
    pass


class SocketConnection(LossNoticed, connection.UnixDomainSocketConnection):
    pass


MAX_CONNECTIONS: Final = 100
# As long as for a reply (redis_client.py): then a command fails as if Redis had not answered.
WAIT_S: Final = 5.0
# The library's class of each scheme -> the class that replaces it.
NOTICING: Final[dict[type[connection.AbstractConnection], type[LossNoticed]]] = {
    connection.Connection: TcpConnection,
    connection.SSLConnection: TlsConnection,
    connection.UnixDomainSocketConnection: SocketConnection,
}


def connection_pool(url: str, **options: object) -> connection.ConnectionPool:
    """Return a pool whose connections notice their loss, and in which a command waits while all of them are in use.

    redis-py's own pool raises ConnectionError with the 101st command: thousands of sockets change in one moment.
    """
    pool = connection.BlockingConnectionPool.from_url(
        url, max_connections=MAX_CONNECTIONS, timeout=WAIT_S, **options
    )
    pool.connection_class = NOTICING[pool.connection_class]
    return pool
