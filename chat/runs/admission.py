"""Limits on runs: in progress per user, and waiting in one queue for a worker.

They prevent floods and are no quotas: concurrent sends in different sessions may exceed them together.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from django.conf import settings
from django.contrib.auth.models import User

from chat.models import Run
from chat.protocol.answer import LimitUse
from chat.protocol.errors import ApiError


def check(own_runs: int, queued_runs: Mapping[str, int], queues: Collection[str]) -> None:
    """Raise ApiError if one more run for each of `queues` exceeds MAX_RUNS_PER_USER or, in a queue, MAX_QUEUED_RUNS.

    If a queue without workers fills up, models of the other queues answer as before.

    own_runs: the user's runs in progress.  queued_runs: by queue, the runs of all users that wait for a worker.
    """
    if own_runs + len(queues) > settings.MAX_RUNS_PER_USER:
        raise ApiError("too_many_runs")
    for queue, new_runs in Counter(queues).items():
        if queued_runs.get(queue, 0) + new_runs > settings.MAX_QUEUED_RUNS:
            raise ApiError("queue_full")


def limit_uses(user: User) -> Iterator[LimitUse]:
    """Yield the limit on the user's own runs in progress, with its use."""
    live = Run.objects.owned_by(user).live().count()
    yield LimitUse("runs_in_progress", live, settings.MAX_RUNS_PER_USER, "runs")
