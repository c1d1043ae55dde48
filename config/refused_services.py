"""Refuses unsuitable services that seem to work, at the start of each process of the Procfile: one line and status 78.

A service that is away is not refused: the processes wait for it.
"""

from typing import Any, Final

import psycopg
from django.conf import settings
from psycopg.errors import DuplicatePreparedStatement, InvalidSqlStatementName
from redis import Redis, RedisError

from config import environment as env

TIMEOUT_S: Final = 2.0
NO_CLUSTER: Final = (
    "is a node of a Redis Cluster, which is not supported: use one Redis, with replicas for a failover"
)


# As libpq's server_version. A constraint needs NULLS NOT DISTINCT.
OLDEST_POSTGRES: Final = 150_000


def check() -> None:
    _refuse_postgres()
    _refuse_cluster("REDIS_URL", settings.REDIS_URL)
    broker = settings.CELERY_BROKER_URL
    if broker.startswith("redis") and broker != settings.REDIS_URL:
        _refuse_cluster("CELERY_BROKER_URL", broker)


def _refuse_postgres() -> None:
    try:
        with psycopg.connect(settings.DATABASE_URL, connect_timeout=int(TIMEOUT_S)) as connection:
            refuse_old_postgres(connection.info.server_version)
        options = settings.DATABASES["default"]["OPTIONS"].get("options", "")
        if problem := refusal_of_pooler(
            settings.DATABASE_URL, options, prepares_statements=settings.PREPARE_STATEMENTS
        ):
            env.fail("DATABASE_URL", problem)
    except psycopg.Error:  # away
        return


def refusal_of_pooler(url: str, options: str, *, prepares_statements: bool) -> str:
    """Return what a pooler at this address does not support; empty if that is nothing.
    options: libpq's.  Raises psycopg.Error if Postgres is away.
    """
    return refusal_of_options(url, options) or (_refusal_of_statements(url) if prepares_statements else "")


def refusal_of_options(url: str, options: str) -> str:
    """Return what is wrong if Postgres takes connections, but none with these startup options; empty if it takes them.
    Raises psycopg.Error if it is away.
    """
    if not options:
        return ""
    try:
        psycopg.connect(url, connect_timeout=int(TIMEOUT_S), options=options).close()
    except psycopg.Error as error:
        psycopg.connect(url, connect_timeout=int(TIMEOUT_S)).close()
        return (
            f"refuses startup options, as a connection pooler may ({env.first_line(error)}): set STATEMENT_TIMEOUT=0,"
            " and the limits of its user (docs/operations.md)"
        )
    return ""


def _refusal_of_statements(url: str) -> str:
    """Return what is wrong if a connection meets the prepared statements of another one. A busy pooler may hide it."""
    with (
        psycopg.connect(url, connect_timeout=int(TIMEOUT_S), autocommit=True) as first,
        psycopg.connect(url, connect_timeout=int(TIMEOUT_S), autocommit=True) as second,
    ):
        try:
            for connection in (first, second):
                connection.execute("SELECT 1", prepare=True)
        except (DuplicatePreparedStatement, InvalidSqlStatementName) as error:
            return (
                f"shares its sessions, as a connection pooler may ({env.first_line(error)}): set STATEMENT_TIMEOUT=0"
                " (docs/operations.md)"
            )
    return ""


def refuse_old_postgres(version: int) -> None:
    """End the process if Postgres is too old. version: as libpq's server_version."""
    if version < OLDEST_POSTGRES:
        env.fail(
            "DATABASE_URL",
            f"is Postgres {version // 10_000}; the oldest supported is {OLDEST_POSTGRES // 10_000}",
        )


def is_cluster_node(client: Redis) -> bool:
    """Return whether the server is a node of a Redis Cluster. Raises RedisError.
    Such a node replies, but refuses the keys of other nodes: answers would never be shown.
    """
    info: Any = client.info("cluster")
    return bool(info.get("cluster_enabled"))


def _refuse_cluster(name: str, url: str) -> None:
    try:
        with Redis.from_url(url, socket_timeout=TIMEOUT_S, socket_connect_timeout=TIMEOUT_S) as client:
            is_refused = is_cluster_node(client)
    except (RedisError, OSError):  # away, or its user may not ask
        return
    if is_refused:
        env.fail(name, NO_CLUSTER)
