"""Django's PostgreSQL backend with a pool that recovers at once after a restart or a failover of Postgres.

psycopg's pool finds the connections that a restart broke one by one, backs off longer after each, and gives up
connecting while callers wait (decision 0021). Django sets the pool's check itself and takes no other in OPTIONS.

A server that refuses writes (a failover, a recovery, a disk that is almost full) is an outage, which callers wait for:
psycopg calls it an internal error, like a fault of the program.
"""

import os
import select
import sys
from types import TracebackType
from typing import Any

import psycopg
from django.db import DatabaseError, OperationalError
from django.db.backends.postgresql import base
from django.db.utils import DatabaseErrorWrapper
from django.utils.functional import cached_property
from psycopg import Connection, Error
from psycopg.errors import ReadOnlySqlTransaction
from psycopg.types.numeric import Int8Dumper
from psycopg_pool import ConnectionPool

from config.database_timeouts import application_name

# Otherwise a number's type depends on its size, and each combination of sizes prepares its own statement.
psycopg.adapters.register_dumper(int, Int8Dumper)


class DatabaseWrapper(base.DatabaseWrapper):
    @property
    def pool(self) -> Any:
        pool = super().pool
        if pool is not None:
            pool._check = check  # noqa: SLF001
        return pool

    def get_connection_params(self) -> dict[str, Any]:
        """Name the connection, unless DATABASE_URL does. Processes are forked after the settings are read."""
        return {
            "application_name": application_name(sys.argv, os.getpid()),
            **super().get_connection_params(),
        }

    @cached_property
    def wrap_database_errors(self) -> "ErrorWrapper":
        return ErrorWrapper(self)


class ErrorWrapper(DatabaseErrorWrapper):
    """Reraises the errors of psycopg as Django's, a refused write as an OperationalError."""

    def __init__(self, database: DatabaseWrapper) -> None:
        super().__init__(database)
        self._database = database

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            super().__exit__(exc_type, error, traceback)
        except DatabaseError:
            if not isinstance(error, ReadOnlySqlTransaction):
                raise
            if self._database.pool is not None:
                self._database.pool.drain()  # another server may accept writes by now
            raise OperationalError(*error.args) from error


def check(connection: Connection[Any]) -> None:
    """Check a connection of the pool. Raises psycopg.Error if it is dead, and discards all idle ones: the next are new.

    A server that is gone has closed its sockets, so a connection with nothing to read needs no query.
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
