"""How many answers may be in progress: per user, and waiting for a worker altogether.

A limit against floods, not a quota: it is looked at before the transaction, and two sends at once may pass it.
"""

from django.conf import settings

from chat.models import Run, Session
from chat.protocol.errors import ApiError


def check(session: Session, wanted: int) -> None:
    """Refuse `wanted` more runs past MAX_RUNS_PER_USER or MAX_QUEUED_RUNS."""
    admit(*Run.objects.in_progress(session.owner_id), wanted)


def admit(own: int, queued: int, wanted: int) -> None:
    """The same where it is known how many are in progress (Run.objects.in_progress)."""
    if own + wanted > settings.MAX_RUNS_PER_USER:
        raise ApiError("too_many_runs")
    if queued + wanted > settings.MAX_QUEUED_RUNS:
        raise ApiError("queue_full")
