"""A Celery consumer that survives the loss of the broker connection; celery_settings.py selects it.

Messages received over a lost connection stay unacknowledged. They are redelivered after the visibility timeout, when
their runs have ended and cannot be claimed.
"""

import time
from functools import partial
from typing import Any, NoReturn

from amqp.exceptions import AMQPNotImplementedError, PreconditionFailed
from celery.worker.consumer import Consumer as CeleryConsumer
from redis.exceptions import ResponseError

from config import environment as env

# Reconnection back-off. Celery's grows to 30 s, which delays recovery after the broker is available again.
PAUSES_S = {"interval_start": 0.2, "interval_step": 0.2, "interval_max": 1}


# Before the next try after an error that Redis replied with: it accepts connections, and fails again.
REPLIED_PAUSE_S = 1.0


class Consumer(CeleryConsumer):
    def ensure_connected(self, conn: Any) -> Any:
        conn.ensure_connection = partial(conn.ensure_connection, **PAUSES_S)
        return super().ensure_connected(conn)

    def start(self) -> None:
        try:
            super().start()
        except PreconditionFailed as error:
            _refuse_queue(error)

    def on_connection_error_after_connected(self, exc: Exception) -> None:
        if isinstance(exc, AMQPNotImplementedError):
            _refuse_queue(exc)
        connection: Any = self.connection
        for channel in getattr(connection.transport, "channels", ()):
            _detach(channel)
        super().on_connection_error_after_connected(exc)
        if isinstance(exc, ResponseError):
            time.sleep(REPLIED_PAUSE_S)


def _refuse_queue(error: Exception) -> NoReturn:
    """RabbitMQ: Celery limits what a worker takes for all queues of a channel, which quorum queues do not support; a queue that was
    declared with other arguments cannot be declared again."""
    env.fail(
        "CELERY_BROKER_URL",
        f"the queues must be classic and durable, not quorum queues, also by a default of the virtual host ({error})",
    )


def _detach(channel: Any) -> None:
    """Keep the channel from using its lost connection.

    With kombu 5.7, closing the channel or acknowledging one of its messages raises an AttributeError that ends the worker.
    """
    channel.do_restore = False
    channel.basic_ack = channel.basic_reject = _ignore


def _ignore(*_: object, **__: object) -> None:
    pass
