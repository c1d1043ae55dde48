"""The event `session`: the title, while_answering, agent, project, knowledge bases, tools, options, models, tags or current branch of a session has
changed, or it was pinned, archived or kept."""

from chat.events import session_events
from chat.models import Session
from chat.presenters.sessions import has_options


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
        "tools": stored.tools,
        "has_options": has_options(stored),
        "is_pinned": stored.is_pinned,
        "is_archived": stored.is_archived,
        "tags": stored.tags,
        "is_temporary": stored.is_temporary,
        "leaf": str(stored.leaf_id) if stored.leaf_id else None,
    }
    session_events.record(session, "session", payload)
