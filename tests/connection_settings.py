"""Settings of database connections, for as long as a test needs them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection
from django.db.backends.signals import connection_created


@contextmanager
def connection_settings(**settings: str) -> Iterator[None]:
    """Every connection that any thread takes from the pool inside the block has these settings.

    A connection keeps its settings when it returns to the pool. The pool is closed at the end, so that no later test gets one
    with them.
    """

    def apply(sender: object, connection: Any, **_: object) -> None:
        with connection.cursor() as cursor:
            for name, value in settings.items():
                cursor.execute("SELECT set_config(%s, %s, false)", [name, value])

    connection.close()
    connection_created.connect(apply)
    try:
        yield
    finally:
        connection_created.disconnect(apply)
        connection.close()
        connection.close_pool()
