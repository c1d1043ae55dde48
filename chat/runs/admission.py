"""Limits on runs in progress: per user, and waiting for a worker altogether.

A limit against floods, not a quota: sends of different sessions at the same time may pass it together.
"""

from collections.abc import Iterator

from django.conf import settings
from django.contrib.auth.models import User

from chat.models import Run
from chat.protocol.errors import ApiError
from chat.protocol.limit_use import LimitUse


def check(own_runs: int, queued_runs: int, new_runs: int) -> None:
    """Raise ApiError if new_runs more exceed MAX_RUNS_PER_USER or MAX_QUEUED_RUNS.

    own_runs: the user's runs in progress; queued_runs: those of all users that wait for a worker.
    """
    if own_runs + new_runs > settings.MAX_RUNS_PER_USER:
        raise ApiError("too_many_runs")
    if queued_runs + new_runs > settings.MAX_QUEUED_RUNS:
        raise ApiError("queue_full")


def limit_uses(user: User) -> Iterator[LimitUse]:
    """The limit on the user's own runs in progress."""
    live = Run.objects.owned_by(user).live().count()
    yield LimitUse("runs_in_progress", live, settings.MAX_RUNS_PER_USER, "runs")
