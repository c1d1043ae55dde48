"""Drops what the parts of a process log over and over while a service is away: one line for each state stays.

An outage makes each run, request and heartbeat fail, some each second, which hides all other records.
"""

import errno
import logging
import math
import time
from collections.abc import Callable
from typing import Final

import psycopg
import redis
from django.db import Error
from kombu.exceptions import OperationalError
from psycopg import errors

# A state that nobody has met for so long is over: the next record of it is of another outage.
OVER_AFTER_S: Final = 30.0
# Others hold a lock, or a statement takes long: that is no outage, and which row it was matters.
_BUSY: Final = (
    errors.QueryCanceled, errors.LockNotAvailable, errors.DeadlockDetected, errors.SerializationFailure,
)  # fmt: skip
# The first that matches counts.
_STATES: Final[tuple[tuple[type[BaseException], str], ...]] = (
    (errors.ReadOnlySqlTransaction, "Postgres is read-only"),
    (errors.DiskFull, "the disk of Postgres is full"),
    (psycopg.OperationalError, "Postgres is unreachable"),
    (redis.ReadOnlyError, "Redis is read-only"),
    (redis.OutOfMemoryError, "Redis is full"),
    (redis.ConnectionError, "Redis is unreachable"),
    (redis.TimeoutError, "Redis is unreachable"),
    (OperationalError, "the broker is unreachable"),
)
# Libraries that log each attempt to connect as an error.
_LIBRARIES: Final = ("celery", "kombu", "django")


class OutageFilter(logging.Filter):
    """Lets the first record of each state pass, without a traceback, and drops those that follow while it lasts.

    Errors of our own without a traceback pass: they say what was lost.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._met_at: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        error = _error_of(record)
        state = (state_of(error) if error else None) or _refused(record)
        if state is None:
            return True
        now = self._clock()
        is_first = now - self._met_at.get(state, -math.inf) > OVER_AFTER_S
        self._met_at[state] = now
        if is_first:
            _shorten(record, state)
        return is_first


def state_of(error: BaseException) -> str | None:
    """Return which outage the error is of; None if it is of none."""
    cause = error.__cause__ if isinstance(error, Error) else error
    if isinstance(cause, _BUSY):
        return None
    if isinstance(cause, OSError) and cause.errno in (errno.ENOSPC, errno.EDQUOT):
        return "the disk is full"
    return next((state for kind, state in _STATES if isinstance(cause, kind)), None)


def _error_of(record: logging.LogRecord) -> BaseException | None:
    """Return the exception that the record is of; None also for an error of our own that has no traceback."""
    if record.exc_info and record.exc_info[1]:
        return record.exc_info[1]
    if record.levelno >= logging.ERROR and not record.name.startswith(_LIBRARIES):
        return None
    args = record.args if isinstance(record.args, tuple) else ()
    return next((one for one in args if isinstance(one, BaseException)), None)


def _refused(record: logging.LogRecord) -> str | None:
    """Return a state of a record without an exception: of a request that was answered 503, or of the pool's retries."""
    if record.name == "psycopg.pool":
        return "Postgres is unreachable"
    return "requests are answered 503" if getattr(record, "status_code", None) == 503 else None


def _shorten(record: logging.LogRecord, state: str) -> None:
    said = record.getMessage()
    if record.exc_info:
        said = f"{said}: {record.exc_info[1]}"
        record.exc_info = record.exc_text = None
    record.msg, record.args = "%s (%s; logged once while it lasts)", (said, state)
