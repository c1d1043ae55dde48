"""The event `session`: a session was pinned, archived or kept, one of its members has changed, or it waits for its user.

These members are those of ChangedSession (chat/presenters/sessions.py).
"""

from chat.events import session_events
from chat.models import Session
from chat.presenters.sessions import present_changed_session


def record_session_changed(session: Session) -> None:
    """Record the event with the values as they are stored now. The caller holds the session's lock."""
    stored = Session.objects.get(pk=session.pk)
    session_events.record(session, "session", present_changed_session(stored))
