"""The database backend: Django's PostgreSQL backend with a pool that reconnects as soon as Postgres is available."""

from typing import Any


def retry_for_waiting(pool: Any) -> None:
    """Connect again after a failed reconnection if callers wait; each waits no longer than the pool's timeout."""
    with pool._lock:  # noqa: SLF001
        if pool._waiting:  # noqa: SLF001
            pool._maybe_grow_pool()  # noqa: SLF001
