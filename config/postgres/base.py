"""Django's PostgreSQL backend, whose pool comes back as soon as Postgres does, and whose numbers are of one type.

By itself the pool finds the connections that a restart killed one by one, pauses longer after each, and gives up
connecting while somebody waits for it.
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
            # Django gives no way to choose them.
            pool._check = check  # noqa: SLF001
            pool._reconnect_failed = go_on  # noqa: SLF001
        return pool

    def get_connection_params(self) -> dict[str, Any]:
        """A number's type follows from its size otherwise, and a statement would be prepared for each mixture."""
        params = super().get_connection_params()
        params["context"] = _with_one_integer(params["context"])
        return params


@cache
def _with_one_integer(context: AdaptersMap) -> AdaptersMap:
    adapters = AdaptersMap(context)
    adapters.register_dumper(int, Int8Dumper)
    return adapters


def check(connection: Connection[Any]) -> None:
    """Raises psycopg.Error if the connection is dead. The others are taken for dead too: the next are new.

    A server that is gone has closed its sockets, so while there is nothing to read it need not be asked.
    """
    try:
        if _has_something_to_read(connection):
            ConnectionPool.check_connection(connection)
    except Error:
        pool: Any = connection._pool  # noqa: SLF001
        pool.drain()
        raise


def _has_something_to_read(connection: Connection[Any]) -> bool:
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return bool(poll.poll(0))


def go_on(pool: Any) -> None:
    """Called when the pool has given up connecting: for those who wait it tries again. Each still waits no longer
    than the pool's timeout."""
    with pool._lock:  # noqa: SLF001
        if pool._waiting:  # noqa: SLF001
            pool._maybe_grow_pool()  # noqa: SLF001
