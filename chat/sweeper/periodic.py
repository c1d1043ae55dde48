"""PeriodicJob: work that the leading sweeper does at intervals, a batch at a time, so that no sweep takes long.

A row that others have locked, or that cannot be repaired, does not keep a sweep from the rest.
"""

import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, Final, NamedTuple, ParamSpec

from django.db import DatabaseError, OperationalError
from psycopg.errors import DeadlockDetected, LockNotAvailable, QueryCanceled


class Batch(NamedTuple):
    """The result of a batch. done: how many.  has_more: the next call goes on at once."""

    done: int
    has_more: bool = False


class PeriodicJob(ABC):
    """Work that is done at intervals.

    every_s: seconds from one batch to the next, unless there is more.
    what: the kind of rows that are purged, for the log; empty: not logged.
    """

    every_s: ClassVar[float]
    what: ClassVar[str] = ""

    def __init__(self) -> None:
        self._next_at = 0.0
        self._now_s = 0.0

    def run(self, now_s: float) -> int:
        """Run a batch if it is due; return how many were done. now_s: monotonic clock."""
        if now_s < self._next_at:
            return 0
        self._now_s = now_s
        # Even if the batch fails: the other jobs get their turn first.
        self._next_at = now_s + self.every_s
        batch = self.work()
        if batch.has_more:
            self._next_at = now_s
        return batch.done

    @abstractmethod
    def work(self) -> Batch: ...


logger = logging.getLogger(__name__)

P = ParamSpec("P")
RETRY_AFTER_S: Final = 60.0
# When what could not be repaired is tried again, on the monotonic clock.
_next_try: dict[str, float] = {}


def attempt_repair(what: str, repair: Callable[P, int | None], *args: P.args, **kwargs: P.kwargs) -> int:
    """Call `repair` and return its count; 0 if it waited too long for a lock: the next sweep tries again.

    After another failure, RETRY_AFTER_S pass before the same is tried again. Raises DatabaseError if the database is the
    reason.
    """
    if _next_try.get(what, 0.0) > time.monotonic():
        return 0
    try:
        return repair(*args, **kwargs) or 0
    except OperationalError as error:
        if not isinstance(error.__cause__, LockNotAvailable | QueryCanceled | DeadlockDetected):
            raise
        logger.warning("%s is busy, the next sweep tries again: %s", what, error)
    except DatabaseError:
        raise
    except Exception:  # one row would keep every sweeper from all other work
        logger.exception("%s cannot be repaired", what)
        _put_off(what)
    return 0


def _put_off(what: str) -> None:
    now = time.monotonic()
    for known in [known for known, next_at in _next_try.items() if next_at <= now]:
        del _next_try[known]
    _next_try[what] = now + RETRY_AFTER_S
