"""asyncio connections to Redis: every loss raises redis-py's ConnectionError, and a task cancelled while it sends ends.

Callers and the retries of redis-py expect ConnectionError. uvloop raises RuntimeError when something is written to a
connection that the peer has reset while it was idle, and redis-py does not notice the reset before it writes. On every
other connection the same loss is an OSError.

redis-py sends within asyncio.wait_for, which before Python 3.12 drops a cancellation that comes after the sending has
ended or failed (https://github.com/python/cpython/issues/86296): a run that is stopped at that moment would go on.
"""

import asyncio
from collections.abc import Iterable
from typing import Final

from redis.asyncio import connection
from redis.exceptions import ConnectionError as ConnectionLost

# The end of uvloop's message. Other RuntimeErrors are faults of the program and are raised unchanged.
CLOSED_TRANSPORT: Final = "the handler is closed"


class LossNoticed(connection.AbstractConnection):
    """A connection that notices its loss and the cancellation of its task.

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
