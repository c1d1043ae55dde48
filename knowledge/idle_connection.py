"""Returns the database connection of a thread to the pool before the thread waits for something else."""

from django.db import connections


def return_idle_connection() -> None:
    """Return idle connections to the pool; the next query takes another one. In a transaction the connection stays."""
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close_if_unusable_or_obsolete()
