"""Limits on runs in progress: per user, and waiting for a worker altogether.

A limit against floods, not a quota: sends of different sessions at the same time may pass it together.
"""

from django.conf import settings

from chat.protocol.errors import ApiError


def check(own_runs: int, queued_runs: int, new_runs: int) -> None:
    """Raise ApiError if new_runs more exceed MAX_RUNS_PER_USER or MAX_QUEUED_RUNS.

    own_runs: the user's runs in progress; queued_runs: those of all users that wait for a worker.
    """
    if own_runs + new_runs > settings.MAX_RUNS_PER_USER:
        raise ApiError("too_many_runs")
    if queued_runs + new_runs > settings.MAX_QUEUED_RUNS:
        raise ApiError("queue_full")
