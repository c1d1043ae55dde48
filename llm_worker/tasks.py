"""The Celery tasks and worker signals: a task message starts a run, a signal drains the process."""

import signal
from typing import Any

from celery import Task, shared_task
from celery.signals import task_rejected, task_unknown, worker_ready, worker_shutdown, worker_shutting_down
from celery.worker import state
from django.conf import settings

from chat.infrastructure.gc_tuning import tune_gc
from chat.metrics.counters import TASKS_DROPPED
from chat.metrics.presence import celery_work
from chat.metrics.tally import keep_pushing
from chat.protocol.tasks import (
    DEFAULT_QUEUE,
    RUN_TURN,
)
from llm_worker.attempt import runtime


@shared_task(name=RUN_TURN, bind=True)
def run_turn(self: "Task[Any, Any]", /, *, run_id: str, **_later: object) -> None:
    """Carry out one run: this one, or another that waits in the same queue. Does nothing if no run waits."""
    delivery = self.request.delivery_info or {}
    runtime.current().run(run_id, delivery.get("routing_key") or DEFAULT_QUEUE)


@worker_ready.connect
def start_runtime(sender: Any, **_: object) -> None:
    signal.signal(signal.SIGQUIT, hand_over_now)
    keep_pushing("llm", celery_work(sender, runtime.current().owner))
    tune_gc()


@task_unknown.connect
@task_rejected.connect
def count_dropped(**_: object) -> None:
    """Count a task message that Celery logs and drops."""
    TASKS_DROPPED.inc()


@worker_shutting_down.connect
def drain_runtime(**_: object) -> None:
    """Drain the process at SIGTERM or the first Ctrl-C.

    Another Ctrl-C hands the runs over: Celery's own handler would kill threads, which its thread pool cannot do.
    """
    for number in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, hand_over_now)
    runtime.drain_current(settings.DRAIN_GRACE_S)


def hand_over_now(*_: object) -> None:
    """Drain the process without a grace period; other workers resume its runs."""
    state.should_stop = 0  # type: ignore[assignment]  # the exit status, as Celery's own handler sets it
    runtime.drain_current(0)


@worker_shutdown.connect
def stop_runtime(**_: object) -> None:
    runtime.stop_current()
