"""One repair of a sweep: a row that others have locked, or that cannot be repaired, does not keep it from the rest."""

import logging
import time
from collections.abc import Callable
from typing import Final, ParamSpec

from django.db import DatabaseError, OperationalError
from psycopg.errors import LockNotAvailable, QueryCanceled

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
        if not isinstance(error.__cause__, LockNotAvailable | QueryCanceled):
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
    for known in [known for known, at in _next_try.items() if at <= now]:
        del _next_try[known]
    _next_try[what] = now + RETRY_AFTER_S
