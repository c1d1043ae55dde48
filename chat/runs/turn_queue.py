"""Turns that wait for another: what they wait for, and what happens when it ends.

The database alone says who waits (Turn.after): such runs are not claimed. Everything here runs under the
session's lock.
"""

from datetime import timedelta

from django.conf import settings
from django.db.models.functions import Now

from chat.models import ChatMessage, Role, Run, Turn
from chat.protocol.states import Status
from chat.runs.task_queue import enqueue_on_commit


def blocking_turn(answer: ChatMessage) -> Turn | None:
    """The turn that must end before a reply to `answer` can start; None: it can start now.

    An answer that was stopped while it waited has ended, but the one above it has not.
    """
    # Nobody writes the root.
    return None if answer.role == Role.ROOT else Turn.objects.blocking(answer.pk)


def release_followers(turn: Turn) -> None:
    """`turn` has ended: wake those that wait for it, or let them wait for what it waited for itself."""
    above = turn.after
    if above is not None and above.ended_at is None:
        turn.followers.update(after=above)
    else:
        woken = Run.objects.filter(turn__after=turn, status=Status.QUEUED)
        # Their time starts now.
        woken.update(deadline=Now() + timedelta(seconds=settings.RUN_DEADLINE_S))
        enqueue_on_commit(list(woken.select_related("model_config")))
