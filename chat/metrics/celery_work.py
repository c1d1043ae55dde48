"""The current work of a Celery worker, for its presence."""

from collections.abc import Callable
from typing import Any

from celery.worker import state

from chat.metrics.presence import Work


def celery_work(consumer: Any, owner: int | None = None) -> Callable[[], Work]:
    """Return a function that describes the current work of a Celery worker.

    It is called at each push: queues may be added and cancelled while the worker runs.
    consumer: the sender of the signal `worker_ready`.  owner: as in the column of runs.
    """

    def work() -> Work:
        queues = tuple(sorted(consumer.app.amqp.queues.consume_from))
        is_draining = state.should_stop is not None or state.should_terminate is not None
        return Work(queues, consumer.controller.concurrency, len(state.active_requests), is_draining, owner)

    return work
