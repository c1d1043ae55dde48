"""Celery's consumer, made to survive the loss of its broker. Named in celery_settings.py.

What a lost connection still had to acknowledge stays unacknowledged: it is delivered again after the visibility
timeout, when the run has long ended and nothing happens.
"""

from functools import partial
from typing import Any

from celery.worker.consumer import Consumer as CeleryConsumer

# Celery's pauses between attempts grow to 30 s, long after the broker is back.
PAUSES_S = {"interval_start": 0.2, "interval_step": 0.2, "interval_max": 1}


class Consumer(CeleryConsumer):
    def ensure_connected(self, conn: Any) -> Any:
        conn.ensure_connection = partial(conn.ensure_connection, **PAUSES_S)
        return super().ensure_connected(conn)

    def on_connection_error_after_connected(self, exc: Exception) -> None:
        connection: Any = self.connection
        for channel in getattr(connection.transport, "channels", ()):
            _let_go(channel)
        super().on_connection_error_after_connected(exc)


def _let_go(channel: Any) -> None:
    """Neither closing it nor a task that ends later may use its connection: with kombu 5.7 either is an
    AttributeError that ends the whole worker."""
    channel.do_restore = False
    channel.basic_ack = channel.basic_reject = _nothing


def _nothing(*_: object, **__: object) -> None:
    pass
