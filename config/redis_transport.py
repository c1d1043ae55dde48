"""kombu's Redis transport with one Redis client per channel; it survives errors that Redis replies with.

kombu creates a client for every command, several per task; creating one with redis-py takes 0.2 ms. celery_settings.py
selects this transport.
"""

from typing import Any

from kombu.transport import TRANSPORT_ALIASES, redis
from redis.exceptions import ResponseError


class Channel(redis.Channel):
    _shared: Any = None  # the client and the pool it was built for

    def _create_client(self, asynchronous: bool = False) -> Any:
        if asynchronous:  # each belongs to one connection, and kombu reuses it
            return super()._create_client(asynchronous=True)  # type: ignore[misc]  # not in its stubs
        pool = self.pool
        if self._shared is None or self._shared[1] is not pool:
            self._shared = (super()._create_client(), pool)  # type: ignore[misc]
        return self._shared[0]


class Transport(redis.Transport):
    Channel = Channel
    # READONLY (a failover), OOM, UNBLOCKED, MISCONF …: Celery ends a worker after an error that is no loss of the
    # connection.
    connection_errors = (*redis.Transport.connection_errors, ResponseError)


# kombu knows by the scheme that the connection needs TLS.
TRANSPORT_ALIASES["rediss"] = "config.redis_transport:Transport"
