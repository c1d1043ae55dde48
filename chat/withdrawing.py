"""A question that waits for the answer above it is taken back: its turn is stopped, and the branch ends above it.

It stays in the tree, as every message does. Only the newest can be taken back: those below would wait for nothing.
"""

from django.db import transaction

from chat import editing
from chat.models import ChatMessage, Role, Session, Turn
from chat.refusals import Refusal
from chat.runs import cancelling


def withdraw(question: ChatMessage) -> Session:
    """Returns its session, whose leaf is the answer above. Raises Refusal; then nothing was changed."""
    with transaction.atomic():
        try:
            session = Session.objects.lock(question.session_id)
        except Session.DoesNotExist:
            raise Refusal("session_not_found") from None
        turn = _waiting_turn(question, session)
        above = ChatMessage.objects.get(pk=question.parent_id)
        above.end_branch()
        session.point_at(above)
        editing.tell(session)
    # Whether or not its wait has ended in between: nobody sees its branch any more.
    cancelling.cancel_turn(turn)
    return session


def _waiting_turn(question: ChatMessage, session: Session) -> Turn:
    turn = question.turns.select_related("after").order_by("created_at").last()
    is_waiting = turn is not None and turn.after is not None and turn.after.ended_at is None
    is_newest = question.role == Role.USER and question.children.filter(pk=session.leaf_id).exists()
    if turn is None or not (is_waiting and is_newest):
        raise Refusal("not_waiting")
    return turn
