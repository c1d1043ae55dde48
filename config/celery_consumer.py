"""A Celery consumer that survives the loss of the broker connection; celery_settings.py selects it.

Messages received over a lost connection stay unacknowledged. They are redelivered after the visibility timeout, when
their runs have ended and cannot be claimed.
"""

import logging
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

from amqp.exceptions import AccessRefused, AMQPNotImplementedError, PreconditionFailed
from celery.exceptions import CPendingDeprecationWarning
from celery.worker.consumer import Consumer as CeleryConsumer
from redis.exceptions import ResponseError

from config import environment as env

# Reconnection back-off. Celery's grows to 30 s, which delays recovery after the broker is available again.
PAUSES_S = {"interval_start": 0.2, "interval_step": 0.2, "interval_max": 1}
REPLY_S = 2.0
# Part of RabbitMQ's message when it closes the channel of a message that was not acknowledged in time.
CONSUMER_TIMEOUT = "delivery acknowledgement"

# Pause before the next try after an error reply of Redis, which accepts connections and fails again.
REPLIED_PAUSE_S = 1.0


logger = logging.getLogger(__name__)
# It says that worker_cancel_long_running_tasks_on_connection_loss will be on by default: seven lines for each lost
# connection.
warnings.simplefilter("ignore", CPendingDeprecationWarning)


class Consumer(CeleryConsumer):
    def ensure_connected(self, conn: Any) -> Any:
        conn.ensure_connection = partial(_connect, conn.ensure_connection)
        return super().ensure_connected(conn)

    def stop(self) -> None:
        """Stop, and limit the wait for each reply of RabbitMQ.
        After a restart it may send no reply to the end of a consumer.
        """
        connection: Any = self.connection
        if connection is not None and connection.connected:
            sock = getattr(getattr(connection.connection, "transport", None), "sock", None)
            if sock is not None:
                sock.settimeout(REPLY_S)
        super().stop()

    def on_connection_error_after_connected(self, exc: Exception) -> None:
        """Prepare to reconnect, or end the process if that is useless.
        Also called for errors of a channel (broker_channel_error_retry).
        """
        if isinstance(exc, AccessRefused):
            env.fail("CELERY_BROKER_URL", f"its user needs more rights, see docs/operations.md ({exc})")
        if isinstance(exc, AMQPNotImplementedError | PreconditionFailed):
            if CONSUMER_TIMEOUT not in str(exc):
                _refuse_queue(exc)
            logger.warning(
                "a run was longer in work than consumer_timeout of RabbitMQ allows, and is delivered again: %s",
                exc,
            )
        connection: Any = self.connection
        consumer: Any = getattr(self, "task_consumer", None)  # of RabbitMQ, whose transport keeps no channels
        for channel in (
            *getattr(connection.transport, "channels", ()),
            *([consumer.channel] if consumer else []),
        ):
            _detach(channel)
        super().on_connection_error_after_connected(exc)
        if isinstance(exc, ResponseError):
            time.sleep(REPLIED_PAUSE_S)


def _connect(
    ensure_connection: Callable[..., Any], log_error: Callable[..., None], *arguments: Any, **options: Any
) -> Any:
    """Try until the broker answers, and log only the first failure; Celery logs when it is connected."""
    is_logged = False

    def log_first(*failure: Any) -> None:
        nonlocal is_logged
        if not is_logged:
            log_error(*failure)
        is_logged = True

    return ensure_connection(log_first, *arguments, **options, **PAUSES_S)


def _refuse_queue(error: Exception) -> NoReturn:
    """End the process: RabbitMQ has refused the queues.

    Celery limits the messages of a worker for all queues of a channel, which quorum queues do not support; a queue that
    was declared with other arguments cannot be declared again.
    """
    env.fail(
        "CELERY_BROKER_URL",
        f"the queues must be classic and durable, not quorum queues, also by a default of the virtual host ({error})",
    )


def _detach(channel: Any) -> None:
    """Keep the channel from using its lost connection.

    With kombu 5.7, closing the channel or acknowledging one of its messages raises an AttributeError that ends the
    worker.
    """
    channel.do_restore = False
    channel.basic_ack = channel.basic_reject = _ignore


def _ignore(*_: object, **__: object) -> None:
    pass
