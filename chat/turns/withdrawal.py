"""Withdraws a question that waits for the answer above it: stops its turn and ends the current branch above it.

The message stays in the tree. Only the newest question can be withdrawn, because later ones wait below it.
"""

from django.db import transaction

from chat.events.session_changed import record_session_changed
from chat.models import ChatMessage, Role, Session, Turn
from chat.protocol.errors import ApiError
from chat.runs import cancellation
from chat.turns.current_branch import lock_session


def withdraw_question(question: ChatMessage) -> Session:
    """Returns the session, whose leaf is the answer above. Raises ApiError; then nothing was changed."""
    with transaction.atomic():
        session = lock_session(question.session)
        turn, answer_above = _waiting_turn(question, session), question.parent
        if turn is None or answer_above is None:
            raise ApiError("not_waiting")
        answer_above.end_branch()
        session.point_at(answer_above)
        record_session_changed(session)
    # Even if the wait has ended meanwhile: the branch is no longer shown.
    cancellation.stop_turn(turn)
    return session


def _waiting_turn(question: ChatMessage, session: Session) -> Turn | None:
    """The turn that answers `question`, if it waits for another and is the last of the current branch."""
    is_newest = session.leaf is not None and session.leaf.parent_id == question.pk
    if question.role != Role.USER or not is_newest:
        return None
    waiting = question.turns.filter(after__isnull=False, after__ended_at=None)
    return waiting.order_by("created_at").last()
