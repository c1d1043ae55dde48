"""The Celery task that executes one compression, and the worker process's signals: start, drain, close."""

from functools import cache
from typing import Any

from celery import shared_task
from celery.signals import worker_ready, worker_shutdown, worker_shutting_down

from chat.infrastructure.gc_tuning import free_circles, tune_gc
from chat.metrics.presence import celery_work
from chat.metrics.tally import keep_pushing
from chat.protocol.tasks import COMPRESS_BRANCH
from compression.runner import CompressionRunner


@shared_task(name=COMPRESS_BRANCH)
def compress_branch(*, compression_id: str, **_later: object) -> None:
    """Execute one compression. Idempotent: a repeated delivery cannot claim it and does nothing."""
    runner().run(compression_id)
    free_circles()


@cache
def runner() -> CompressionRunner:
    """Return the runner of this process."""
    return CompressionRunner()


@worker_ready.connect
def start(sender: Any, **_: Any) -> None:
    runner()
    keep_pushing("compression", celery_work(sender))
    tune_gc()


@worker_shutting_down.connect
def drain(**_: Any) -> None:
    """Release the running compressions without waiting for them: another process starts them again."""
    runner().drain()


@worker_shutdown.connect
def close(**_: Any) -> None:
    runner().close()
