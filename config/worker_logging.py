"""Lets Celery's workers log as the other processes do, and say why they end.

Celery's own lines of a task carry what the task is for. A worker that ends without having been told to is an error,
whatever made it end: Celery ends some in silence, with status 0.
"""

import atexit
import logging.config
import os
import sys
import threading
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any, Final

from celery.signals import setup_logging, task_postrun, task_prerun, worker_init, worker_shutting_down
from celery.worker import state
from django.conf import settings

from chat.infrastructure import log_context
from config import environment as env

logger = logging.getLogger(__name__)

_is_told_to_end = threading.Event()
# The fields of each task between the two signals, by its id and its thread's number: a message that is delivered again is
# a task of the same id. Not of its thread: a process that is forked for a program forgets the threads, and would end the
# block of this one with a traceback.
_bound: Final[dict[tuple[str, int], ExitStack]] = {}


@setup_logging.connect
def configure_logging(**_: Any) -> None:
    """Configure logging by LOG_LEVEL, not by the worker's option -l: with that, libraries would log texts and keys.
    The signal keeps Celery from installing its own handlers."""
    logging.config.dictConfig(settings.LOGGING)


@task_prerun.connect
def bind_ids(task_id: str, kwargs: Mapping[str, Any], **_: Any) -> None:
    """Add the ids in the task's message to the records of the task, `run_id` as `run`."""
    _bound[task_id, threading.get_ident()] = fields = ExitStack()
    ids = {name.removesuffix("_id"): value for name, value in kwargs.items() if name.endswith("_id")}
    fields.enter_context(log_context.bound(**ids))


@task_postrun.connect
def release_ids(task_id: str, state: str | None, **_: Any) -> None:
    """End the fields of the task, and log what Celery says nothing of: a SystemExit in the task's thread.
    state: None: the task has left with what is no Exception. Its message is not acknowledged.
    """
    if state is None:
        text = "the task has left its thread, and its message is delivered again"
        logger.error(text, exc_info=sys.exc_info()[1])
    _bound.pop((task_id, threading.get_ident())).close()


@worker_init.connect
def watch_end(sender: Any, **_: Any) -> None:
    """Have the end of this process logged. sender: Celery's worker."""
    atexit.register(_log_end, sender, os.getpid())


@worker_shutting_down.connect
def note_order(**_: Any) -> None:
    """Note that a signal has told this worker to end, which Celery prints."""
    _is_told_to_end.set()


def _log_end(worker: Any, pid: int) -> None:
    if worker.exitcode == env.EX_CONFIG:  # env.fail has said why
        return
    # SIGQUIT sets the flag alone, and a worker that waits for Postgres ends before it is set.
    is_told = _is_told_to_end.is_set() or state.should_stop is not None
    if os.getpid() == pid and not is_told:  # not in a process of its pool
        consumer = getattr(worker, "consumer", None)
        logger.error(
            "the worker ends with status %s, and nobody told it to: worker %s, consumer %s",
            worker.exitcode or 0,
            worker.blueprint.human_state(),
            consumer.blueprint.human_state() if consumer else "not started",
        )
