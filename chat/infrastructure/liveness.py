"""Liveness of worker processes by Postgres advisory locks: a free lock means that its owner is dead.

Each worker process holds a session-level advisory lock under its owner number, on a separate connection. kill -9, OOM
and crashes close the connection and free the lock within a second, without a clock. If locks cannot be used (a pooler
that shares sessions) or a host fails without closing connections, the lease decides (chat/models/lease.py).
"""

import secrets
from typing import Any, Final

import psycopg
from django.db import connection

# True in SQL while a session holds the lock of the owner in `{owner}`. A one-key advisory lock is shown as two
# halves, with objsubid 1.
LOCK_IS_HELD: Final = """EXISTS (
    SELECT 1 FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 1 AND granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND ((classid::bigint << 32) | objid::bigint) = {owner})"""


# By default Postgres keeps the session and the lock of a lost host for two hours. No effect on Unix sockets.
_SERVER_NOTICES: Final = """
    SELECT set_config('tcp_keepalives_idle', '2', false), set_config('tcp_keepalives_interval', '1', false),
        set_config('tcp_keepalives_count', '3', false), set_config('tcp_user_timeout', '5000', false)"""


def new_owner() -> int:
    """Return a random number for a worker: 62 bits, odd, never 0. It fits a bigint and is unique in practice."""
    return secrets.randbits(62) | 1


def new_sweeper() -> int:
    """Return a random number for a sweeper: even, since the numbers of workers are odd."""
    return new_owner() + 1


def is_worker(owner: int) -> bool:
    return owner % 2 == 1


def connect() -> psycopg.Connection[Any]:
    """Open a connection outside the pool, in autocommit, whose loss both sides notice within seconds."""
    parameters = connection.get_connection_params()
    parameters.pop("pool", None)
    parameters |= {
        "keepalives_idle": 2,
        "keepalives_interval": 1,
        "keepalives_count": 3,
        # Keepalives are not sent while an answer is outstanding.
        "tcp_user_timeout": 5000,
        "connect_timeout": 3,
    }
    fresh = psycopg.connect(**parameters, autocommit=True)
    fresh.execute(_SERVER_NOTICES)
    return fresh


class Lock:
    """One advisory lock, held for as long as its connection lives. Not thread-safe."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._connection: psycopg.Connection[Any] | None = None

    def hold(self) -> bool:
        """Acquire the lock, or check that it is still held. Returns False if another session holds it.

        Raises psycopg.OperationalError while Postgres is unreachable; the next call connects again.
        """
        if self._connection is not None:
            try:
                self._connection.execute("SELECT 1")
            except psycopg.Error:
                self.release()
                raise
            return True
        fresh = connect()
        row = fresh.execute("SELECT pg_try_advisory_lock(%s)", [self.number]).fetchone()
        if row is None or not row[0]:
            fresh.close()
            return False
        self._connection = fresh
        return True

    def release(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
