"""The Celery edge: a task message wakes this process up to carry one run out."""

from typing import Any

from celery import shared_task
from celery.signals import task_rejected, task_unknown, worker_ready, worker_shutdown

from chat.metrics.counted import TASKS_DROPPED
from chat.metrics.tally import keep_pushing
from chat.protocol import RUN_TURN
from llm_worker import runtime


@shared_task(name=RUN_TURN)
def run_turn(*, run_id: str, **_later: object) -> None:
    """Carry one run out. Delivered again, to anybody, it cannot be claimed and nothing happens."""
    runtime.current().run(run_id)


@worker_ready.connect
def start_runtime(**_: Any) -> None:
    runtime.current()
    keep_pushing("llm")


@task_unknown.connect
@task_rejected.connect
def count_dropped(**_: Any) -> None:
    """Celery has logged it and goes on."""
    TASKS_DROPPED.inc()


@worker_shutdown.connect
def stop_runtime(**_: Any) -> None:
    runtime.stop_current()
