"""Deletes all rows of tables that others may change meanwhile: a thread that a test has left behind, or another process."""

import time
from collections.abc import Callable
from typing import Final

import psycopg
from django.db import OperationalError

LIMIT_S: Final = 60


def delete_in_spite_of_deadlocks(delete: Callable[[], object]) -> None:
    """Call `delete`, which does all in one transaction, again while Postgres ends that transaction because of a deadlock.

    Raise the last error after LIMIT_S seconds.
    """
    limit = time.monotonic() + LIMIT_S
    while True:
        try:
            delete()
        except (psycopg.errors.DeadlockDetected, OperationalError) as error:
            # Django's error has the driver's as its cause.
            is_deadlock = isinstance(error.__cause__ or error, psycopg.errors.DeadlockDetected)
            if not is_deadlock or time.monotonic() >= limit:
                raise
        else:
            return
