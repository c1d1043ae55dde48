"""Lets Celery's workers log as the other processes do, and their own lines of a task carry what the task is for."""

import logging.config
import threading
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any, Final

from celery.signals import setup_logging, task_postrun, task_prerun
from django.conf import settings

from chat.infrastructure import log_context

# The fields of the task of this thread, between the two signals.
_bound: Final = threading.local()


@setup_logging.connect
def configure_logging(**_: Any) -> None:
    """Configure logging by LOG_LEVEL, not by the worker's option -l: with that, libraries would log texts and keys.
    The signal keeps Celery from installing its own handlers."""
    logging.config.dictConfig(settings.LOGGING)


@task_prerun.connect
def bind_ids(kwargs: Mapping[str, Any], **_: Any) -> None:
    """Add the ids in the task's message to the records of the task, `run_id` as `run`."""
    _bound.fields = ExitStack()
    ids = {name.removesuffix("_id"): value for name, value in kwargs.items() if name.endswith("_id")}
    _bound.fields.enter_context(log_context.bound(**ids))


@task_postrun.connect
def release_ids(**_: Any) -> None:
    _bound.fields.close()
