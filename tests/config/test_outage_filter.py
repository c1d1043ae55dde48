"""What fails over and over while a service is away is logged once for each state; everything else is logged as ever."""

import errno
import logging
import sys

import psycopg
import pytest
import redis
from django.db import OperationalError
from kombu.exceptions import OperationalError as BrokerError
from psycopg import errors

from config.outage_filter import OVER_AFTER_S, OutageFilter, state_of

pytestmark = pytest.mark.pure


def record(error: BaseException, level: int = logging.WARNING, name: str = "chat.log") -> logging.LogRecord:
    return logging.LogRecord(name, level, __file__, 1, "run %s waits: %s", ("r1", error), None)


def of_django(cause: psycopg.Error) -> OperationalError:
    error = OperationalError(str(cause))
    error.__cause__ = cause
    return error


def test_a_state_is_logged_once_and_again_after_it_was_over() -> None:
    now = [0.0]
    outages = OutageFilter(lambda: now[0])
    unreachable = record(redis.ConnectionError("refused"))
    assert outages.filter(unreachable)
    assert "run r1 waits: refused (Redis is unreachable" in unreachable.getMessage()
    assert not outages.filter(record(redis.TimeoutError("late")))
    assert outages.filter(record(redis.ReadOnlyError("a replica")))
    for _ in range(3):
        now[0] += OVER_AFTER_S
        assert not outages.filter(record(redis.ConnectionError("refused")))
    now[0] += OVER_AFTER_S + 1
    assert outages.filter(record(redis.ConnectionError("refused")))


def test_an_outage_is_logged_without_a_traceback() -> None:
    try:
        raise of_django(errors.ReadOnlySqlTransaction("cannot execute UPDATE"))
    except OperationalError:
        logged = logging.LogRecord(
            "web.rest", logging.ERROR, __file__, 1, "request %s failed", ("r1",), sys.exc_info()
        )
    assert OutageFilter().filter(logged)
    assert logged.getMessage().startswith("request r1 failed: cannot execute UPDATE (Postgres is read-only")
    assert logged.exc_info is None


def test_an_error_that_says_what_was_lost_passes_always() -> None:
    outages = OutageFilter()
    full = OSError(errno.ENOSPC, "No space left on device")
    assert all(outages.filter(record(full, logging.ERROR, "ingest.extraction")) for _ in range(2))


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (of_django(errors.AdminShutdown()), "Postgres is unreachable"),
        (of_django(errors.DiskFull()), "the disk of Postgres is full"),
        (of_django(errors.LockNotAvailable()), None),
        (of_django(errors.QueryCanceled()), None),
        (BrokerError("refused"), "the broker is unreachable"),
        (OSError(errno.ENOSPC, "No space left on device"), "the disk is full"),
        (FileNotFoundError(errno.ENOENT, "gone"), None),
        (redis.ResponseError("WRONGTYPE"), None),
        (ValueError("a fault of the program"), None),
    ],
)
def test_states(error: Exception, state: str | None) -> None:
    assert state_of(error) == state
