"""Turns that wait for an earlier turn to end (Turn.after): which turn blocks them, and their release.

Runs of waiting turns are not claimed. The caller of each function holds the session's lock.
"""

from datetime import timedelta

from django.conf import settings
from django.db.models.functions import Now

from chat.models import ChatMessage, Role, Run, Turn
from chat.protocol.states import Status
from chat.runs.task_queue import enqueue_on_commit


def blocking_turn(answer: ChatMessage) -> Turn | None:
    """Return the turn that must end before a reply to `answer` can start; None if it can start now.

    This may be an earlier turn than the answer's own: a turn that was stopped while it waited ends before its blocker.
    """
    # The root has no run.
    return None if answer.role == Role.ROOT else Turn.objects.blocking(answer.pk)


def release_followers(turn: Turn) -> None:
    """Enqueue the turns that wait for `turn`, which has ended, or let them wait for the blocker of `turn`."""
    blocker = turn.after
    if blocker is not None and blocker.ended_at is None:
        turn.followers.update(after=blocker)
    else:
        released = Run.objects.filter(turn__after=turn, status=Status.QUEUED)
        # The deadline counts from the moment a run can start.
        released.line_up(deadline=Now() + timedelta(seconds=settings.RUN_DEADLINE_S))
        enqueue_on_commit(list(released.select_related("model_config")))
