"""Django's PostgreSQL backend, whose pool drops all its idle connections when it finds one of them dead.

After a restart of Postgres all of them are. By itself the pool finds them one by one, pauses longer after each,
and requests fail for as long as that takes.
"""

from typing import Any

from django.db.backends.postgresql import base
from psycopg import Connection, Error
from psycopg_pool import ConnectionPool


class DatabaseWrapper(base.DatabaseWrapper):
    @property
    def pool(self) -> Any:
        pool = super().pool
        if pool is not None:
            pool._check = check  # noqa: SLF001  Django gives no way to choose it
        return pool


def check(connection: Connection[Any]) -> None:
    """Raises psycopg.Error if the connection is dead; the next ones given out are new."""
    try:
        ConnectionPool.check_connection(connection)
    except Error:
        pool: Any = connection._pool  # noqa: SLF001
        pool.drain()
        raise
