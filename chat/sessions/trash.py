"""Restores a session from the trash. Imports need it, and features/trash, which has the other routes of the trash."""

from chat.events import session_list
from chat.models import Session
from chat.presenters.sessions import annotate_sessions
from chat.protocol.errors import ApiError


def restore_session(session: Session) -> Session:
    """Restore a session from the trash, unchanged. Raises ApiError if it is no longer there."""
    if not Session.with_trash.filter(pk=session.pk).restore():
        raise ApiError("session_not_found")
    restored = annotate_sessions(Session.objects.filter(pk=session.pk)).first()
    if restored is None:
        raise ApiError("session_not_found")
    session_list.publish_row(restored)
    return restored
