"""Sessions as clients see them, alone and in lists."""

from typing import Any

from django.db.models import Exists, OuterRef, QuerySet, Subquery

from chat.models import ChatMessage, Role, Session, Turn
from chat.presenters.json_values import JSONObject, id_or_none, isoformat_utc


def readable_sessions(sessions: QuerySet[Session]) -> QuerySet[Session]:
    """With what session_shape needs."""
    roots = ChatMessage.objects.filter(session=OuterRef("pk"), role=Role.ROOT)
    turns = Turn.objects.filter(session=OuterRef("pk"), ended_at=None)
    marked = sessions.annotate(is_answering=Exists(turns))  # type: ignore[no-redef]
    return marked.annotate(root_id=Subquery(roots.values("pk")))


def present_session(session: Any) -> JSONObject:
    """session: from readable_sessions."""
    return {
        "id": str(session.pk),
        "project": id_or_none(session.project_id),
        "knowledge_bases": [],
        "while_answering": session.while_answering,
        "root": str(session.root_id),
        "leaf": str(session.leaf_id or session.root_id),
        "created_at": isoformat_utc(session.created_at),
        **present_listed_session(session),
    }


def present_listed_session(session: Session) -> JSONObject:
    """What a list shows of a session and what changes there: as `session_changed` tells it."""
    return {
        "title": session.title,
        "agent": id_or_none(session.agent_id),
        "n": session.latest_event,
        "updated_at": isoformat_utc(session.updated_at),
        "is_answering": session.is_answering,
        "is_unread": session.is_unread,
    }
