"""The Celery edge: a task message wakes this process up to carry one run out, and signals end the process."""

import signal
from typing import Any

from celery import shared_task
from celery.signals import task_rejected, task_unknown, worker_ready, worker_shutdown, worker_shutting_down
from celery.worker import state
from django.conf import settings

from chat.infrastructure.gc_tuning import tune_gc
from chat.metrics.counters import TASKS_DROPPED
from chat.metrics.tally import keep_pushing
from chat.protocol.tasks import RUN_TURN, TITLE_SESSION
from llm_worker import runtime


@shared_task(name=RUN_TURN)
def run_turn(*, run_id: str, **_later: object) -> None:
    """Carry one run out. Delivered again, to anybody, it cannot be claimed and nothing happens."""
    runtime.current().run(run_id)


@shared_task(name=TITLE_SESSION)
def title_session(*, run_id: str, **_later: object) -> None:
    """Name the run's session, if it has no title. Delivered again, to anybody, it finds one and nothing happens."""
    runtime.current().title(run_id)


@worker_ready.connect
def start_runtime(**_: Any) -> None:
    signal.signal(signal.SIGQUIT, hand_over_now)
    runtime.current()
    keep_pushing("llm")
    tune_gc()


@task_unknown.connect
@task_rejected.connect
def count_dropped(**_: Any) -> None:
    """Celery has logged it and goes on."""
    TASKS_DROPPED.inc()


@worker_shutting_down.connect
def drain_runtime(**_: Any) -> None:
    """SIGTERM or the first Ctrl-C. Celery's second Ctrl-C would end threads, which its thread pool cannot."""
    for number in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, hand_over_now)
    runtime.drain_current(settings.DRAIN_GRACE_S)


def hand_over_now(*_: object) -> None:
    """End without any grace; the runs go on elsewhere."""
    state.should_stop = 0  # type: ignore[assignment]  # as Celery's own handler sets it: the exit status
    runtime.drain_current(0)


@worker_shutdown.connect
def stop_runtime(**_: Any) -> None:
    runtime.stop_current()
