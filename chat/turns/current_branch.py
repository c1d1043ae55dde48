"""Moves the current branch of a session, under the session's lock."""

from itertools import pairwise

from django.db import transaction

from chat.events.session_events import record_session_changed
from chat.infrastructure.background import call_after_commit
from chat.models import ChatMessage, Role, Session, Turn
from chat.protocol.errors import ApiError
from chat.runs import cancellation
from chat.transcript.answer_settings import WhileAnswering


def select_branch(message: ChatMessage) -> Session:
    """Make the path to `message`, and the path last shown below it, the current branch. Raises ApiError."""
    if message.role not in (Role.USER, Role.ASSISTANT):
        raise ApiError("role_order", "Only a user message or an answer can be selected.")
    with transaction.atomic():
        session = lock_session(message.session, message)
        show_path(session, message)
        record_session_changed(session)
    return session


def lock_session(session: Session, message: ChatMessage | None = None) -> Session:
    """Read the session again, and lock it until the transaction ends. Raises ApiError if it is gone.
    message: one of its messages; raises ApiError also if that was deleted meanwhile."""
    try:
        locked = Session.objects.lock(session.pk)
    except Session.DoesNotExist:
        raise ApiError("session_not_found") from None
    if locked.agent_id == session.agent_id:
        locked.agent = session.agent  # spares a query
    if message and not locked.messages.filter(pk=message.pk).exists():
        raise ApiError("message_not_found")
    return locked


def show_path(session: Session, message: ChatMessage) -> None:
    """Make the path to `message`, and the path last shown below it, current. The caller holds the session's lock."""
    make_path_current(message)
    session.point_at(list(ChatMessage.objects.current_path_from(message).only("id"))[-1])


def make_path_current(message: ChatMessage) -> None:
    """Set latest_child on the path from the root to `message`. The caller holds the session's lock."""
    path = ChatMessage.objects.branch_to(message).only("id", "parent", "latest_child")
    for parent, child in pairwise(path):
        if parent.latest_child_id != child.pk:
            child.choose()


def apply_while_answering(session: Session, blocker: Turn | None) -> Turn | None:
    """Return the turn that a new one waits for; interrupt it after the commit if so set. Call it in a transaction.

    blocker: the turn in progress, with `after` loaded, or None. Raises ApiError if the setting is `reject`.
    """
    if blocker and session.settings.while_answering == WhileAnswering.REJECT:
        raise ApiError("turn_in_progress")
    if blocker and session.settings.while_answering == WhileAnswering.INTERRUPT:
        # After the commit: a message that is refused for another reason must not interrupt anything.
        call_after_commit(cancellation.interrupt, blocker)
    return blocker
