"""One repair of a sweep: a row that others have locked, or that cannot be repaired, does not keep it from the rest."""

import logging
from collections.abc import Callable
from typing import ParamSpec

from django.db import DatabaseError, OperationalError
from psycopg.errors import LockNotAvailable, QueryCanceled

logger = logging.getLogger(__name__)

P = ParamSpec("P")


def attempt_repair(what: str, repair: Callable[P, int | None], *args: P.args, **kwargs: P.kwargs) -> int:
    """Call `repair` and return its count; 0 if it failed or waited too long for a lock: the next sweep tries again.

    Raises DatabaseError if the database is the reason.
    """
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
    return 0
