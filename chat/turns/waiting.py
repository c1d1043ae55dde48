"""Finds the turn of a question that waits for the answer above it."""

from chat.models import ChatMessage, Role, Run, Turn
from chat.protocol.errors import ApiError


def get_waiting_turn(question: ChatMessage) -> Turn:
    """Return the turn that answers `question` and waits for another turn to end. Raises ApiError `not_waiting`.

    The caller holds the session's lock. Turns end under it, and no run of a turn is claimed before the turn that it
    waits for has ended: until the lock is released, no worker reads the question.
    """
    waiting = question.turns.filter(after__isnull=False, after__ended_at=None).order_by("created_at").last()
    if question.role != Role.USER or waiting is None:
        raise ApiError("not_waiting")
    # Earlier turns of the question may have been stopped by the user, but no run of them may have been claimed.
    if Run.objects.filter(turn__user_message=question, claimed_at__isnull=False).exists():
        raise ApiError("not_waiting")
    return waiting
