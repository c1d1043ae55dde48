"""One repair of a sweep: rows that others have locked do not keep the sweep from repairing the rest."""

import logging
from collections.abc import Callable
from typing import ParamSpec

from django.db import OperationalError
from psycopg.errors import LockNotAvailable, QueryCanceled

logger = logging.getLogger(__name__)

P = ParamSpec("P")


def attempt_repair(what: str, repair: Callable[P, int | None], *args: P.args, **kwargs: P.kwargs) -> int:
    """Call `repair` and return its count; 0 if it waited too long for a lock: the next sweep tries again."""
    try:
        return repair(*args, **kwargs) or 0
    except OperationalError as error:
        if not isinstance(error.__cause__, LockNotAvailable | QueryCanceled):
            raise
        logger.warning("%s is busy, the next sweep tries again: %s", what, error)
        return 0
