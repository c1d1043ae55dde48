"""Limits on runs in progress: per user, and waiting in one queue for a worker.

A limit against floods, not a quota: sends of different sessions at the same time may pass it together.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from django.conf import settings
from django.contrib.auth.models import User

from chat.models import Run
from chat.protocol.errors import ApiError
from chat.protocol.limit_use import LimitUse


def check(own_runs: int, queued_runs: Mapping[str, int], queues: Collection[str]) -> None:
    """Raise ApiError if one more run for each of `queues` exceeds MAX_RUNS_PER_USER or, in one of them, MAX_QUEUED_RUNS.

    A queue without workers fills up, and the models of the others answer as before.

    own_runs: the user's runs in progress; queued_runs: those of all users that wait for a worker, by queue.
    """
    if own_runs + len(queues) > settings.MAX_RUNS_PER_USER:
        raise ApiError("too_many_runs")
    for queue, new_runs in Counter(queues).items():
        if queued_runs.get(queue, 0) + new_runs > settings.MAX_QUEUED_RUNS:
            raise ApiError("queue_full")


def limit_uses(user: User) -> Iterator[LimitUse]:
    """The limit on the user's own runs in progress."""
    live = Run.objects.owned_by(user).live().count()
    yield LimitUse("runs_in_progress", live, settings.MAX_RUNS_PER_USER, "runs")
