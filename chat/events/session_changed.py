"""The event `session`: a session's title, mode, agent or current branch has changed."""

from chat.events import session_events
from chat.models import Session


def record_session_changed(session: Session) -> None:
    """Record the event `session`: its title, mode or current branch is another now. The caller holds its lock."""
    now = Session.objects.get(pk=session.pk)
    leaf = str(now.leaf_id) if now.leaf_id else None
    agent = str(now.agent_id) if now.agent_id else None
    said = {"title": now.title, "while_answering": now.while_answering, "agent": agent, "leaf": leaf}
    session_events.tell(session, "session", said)
