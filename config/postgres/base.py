"""Django's PostgreSQL backend with a pool that recovers at once after a restart, and with all integers sent as int8.

Without these changes, psycopg_pool discovers the dead connections one by one with growing pauses, and stops
reconnecting while clients still wait for a connection.
"""

import select
from functools import cache
from typing import Any

from django.db.backends.postgresql import base
from psycopg import Connection, Error
from psycopg.adapt import AdaptersMap
from psycopg.types.numeric import Int8Dumper
from psycopg_pool import ConnectionPool


class DatabaseWrapper(base.DatabaseWrapper):
    @property
    def pool(self) -> Any:
        pool = super().pool
        if pool is not None:
            # Django has no setting for these callbacks.
            pool._check = check  # noqa: SLF001
            pool._reconnect_failed = keep_reconnecting  # noqa: SLF001
        return pool

    def get_connection_params(self) -> dict[str, Any]:
        """Send integers as int8. By default the type depends on the value, and each combination is prepared separately."""
        params = super().get_connection_params()
        params["context"] = _with_one_integer(params["context"])
        return params


@cache
def _with_one_integer(context: AdaptersMap) -> AdaptersMap:
    adapters = AdaptersMap(context)
    adapters.register_dumper(int, Int8Dumper)
    return adapters


def check(connection: Connection[Any]) -> None:
    """Raise psycopg.Error if the connection is dead, and drain the pool so that its other connections are replaced.

    A stopped server has closed its sockets, which makes them readable; only then is a query needed.
    """
    try:
        if _is_readable(connection):
            ConnectionPool.check_connection(connection)
    except Error:
        pool: Any = connection._pool  # noqa: SLF001
        pool.drain()
        raise


def _is_readable(connection: Connection[Any]) -> bool:
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return bool(poll.poll(0))


def keep_reconnecting(pool: Any) -> None:
    """Try again if clients wait for a connection; the pool calls this when it stops reconnecting.

    Each client still waits no longer than the pool's timeout.
    """
    with pool._lock:  # noqa: SLF001
        if pool._waiting:  # noqa: SLF001
            pool._maybe_grow_pool()  # noqa: SLF001
