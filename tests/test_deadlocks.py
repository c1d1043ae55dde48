"""Rows are deleted again if a deadlock ended the deletion; any other error is reported."""

import psycopg
import pytest
from django.db import OperationalError

from tests import deadlocks

pytestmark = pytest.mark.pure


class Deletion:
    """Raises each of `errors`, then succeeds."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.calls = 0

    def __call__(self) -> None:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)


def as_django(cause: Exception) -> OperationalError:
    error = OperationalError(str(cause))
    error.__cause__ = cause
    return error


def test_it_is_called_again_after_a_deadlock_that_either_library_reports() -> None:
    deadlock = psycopg.errors.DeadlockDetected("deadlock detected")
    delete = Deletion(deadlock, as_django(deadlock))
    deadlocks.delete_in_spite_of_deadlocks(delete)
    assert delete.calls == 3


@pytest.mark.parametrize(
    "error",
    [OperationalError("the connection is closed"), as_django(psycopg.errors.LockNotAvailable("locked"))],
)
def test_another_error_is_raised_at_once(error: Exception) -> None:
    delete = Deletion(error)
    with pytest.raises(OperationalError) as raised:
        deadlocks.delete_in_spite_of_deadlocks(delete)
    assert (raised.value, delete.calls) == (error, 1)


def test_deadlocks_without_end_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadlocks, "LIMIT_S", 0)
    with pytest.raises(psycopg.errors.DeadlockDetected):
        deadlocks.delete_in_spite_of_deadlocks(Deletion(psycopg.errors.DeadlockDetected()))
