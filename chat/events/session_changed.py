"""The event `session`: the title, while_answering, agent, project, knowledge bases, models or current branch of a session has
changed, or it was pinned or archived."""

from chat.events import session_events
from chat.models import Session


def record_session_changed(session: Session) -> None:
    """Record the event with the values as they are stored now. The caller holds the session's lock."""
    stored = Session.objects.get(pk=session.pk)
    payload = {
        "title": stored.title,
        "while_answering": stored.while_answering,
        "models": stored.models,
        "agent": str(stored.agent_id) if stored.agent_id else None,
        "project": str(stored.project_id) if stored.project_id else None,
        "knowledge_bases": [str(base) for base in stored.knowledge_bases],
        "is_pinned": stored.is_pinned,
        "is_archived": stored.is_archived,
        "leaf": str(stored.leaf_id) if stored.leaf_id else None,
    }
    session_events.record(session, "session", payload)
