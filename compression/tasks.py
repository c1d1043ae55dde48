"""The Celery edge: a task message wakes this process up to carry one compression out, and signals end the process."""

from functools import cache
from typing import Any

from celery import shared_task
from celery.signals import worker_ready, worker_shutdown, worker_shutting_down

from chat.infrastructure.gc_tuning import tune_gc
from chat.metrics.tally import keep_pushing
from chat.protocol.tasks import COMPRESS_BRANCH
from compression.runner import Carrier


@shared_task(name=COMPRESS_BRANCH)
def compress_branch(*, compression_id: str, **_later: object) -> None:
    """Carry one compression out. Delivered again, to anybody, it cannot be claimed and nothing happens."""
    carrier().carry_out(compression_id)


@cache
def carrier() -> Carrier:
    """This process's."""
    return Carrier()


@worker_ready.connect
def start(**_: Any) -> None:
    carrier()
    keep_pushing("compression")
    tune_gc()


@worker_shutting_down.connect
def leave(**_: Any) -> None:
    """Summaries are not waited for: another process begins them again."""
    carrier().leave()


@worker_shutdown.connect
def close(**_: Any) -> None:
    carrier().close()
