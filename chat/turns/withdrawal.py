"""A question that waits for the answer above it is taken back: its turn is stopped, and the branch ends above it.

It stays in the tree, as every message does. Only the newest can be taken back: those below would wait for nothing.
"""

from django.db import transaction

from chat.events.session_changed import record_session_changed
from chat.models import ChatMessage, Role, Session, Turn
from chat.protocol.errors import ApiError
from chat.runs import cancellation


def withdraw_question(question: ChatMessage) -> Session:
    """Returns its session, whose leaf is the answer above. Raises ApiError; then nothing was changed."""
    with transaction.atomic():
        try:
            session = Session.objects.lock(question.session_id)
        except Session.DoesNotExist:
            raise ApiError("session_not_found") from None
        turn, above = _waiting_turn(question, session), question.parent
        if turn is None or above is None:
            raise ApiError("not_waiting")
        above.end_branch()
        session.point_at(above)
        record_session_changed(session)
    # Whether or not its wait has ended in between: nobody sees its branch any more.
    cancellation.cancel_turn(turn)
    return session


def _waiting_turn(question: ChatMessage, session: Session) -> Turn | None:
    """What answers it, if that waits and the current branch ends there."""
    is_newest = session.leaf is not None and session.leaf.parent_id == question.pk
    if question.role != Role.USER or not is_newest:
        return None
    waiting = question.turns.filter(after__isnull=False, after__ended_at=None)
    return waiting.order_by("created_at").last()
