"""Sessions as clients see them: whole, and as rows of a list."""

from django.db.models import Exists, OuterRef, QuerySet, Subquery

from chat.models import ChatMessage, Role, Session, Turn
from chat.presenters.json_values import JSONObject, id_or_none, isoformat_utc
from chat.transcript.run_options import present_options


def annotate_sessions(sessions: QuerySet[Session]) -> QuerySet[Session]:
    """Add root_id and is_answering, which present_session needs."""
    roots = ChatMessage.objects.filter(session=OuterRef("pk"), role=Role.ROOT)
    turns = Turn.objects.filter(session=OuterRef("pk"), ended_at=None)
    annotated = sessions.annotate(is_answering=Exists(turns))  # type: ignore[no-redef]
    return annotated.annotate(root_id=Subquery(roots.values("pk")))


def present_session(session: Session) -> JSONObject:
    """session: from annotate_sessions."""
    root_id = session.root_id  # type: ignore[attr-defined]
    return {
        "id": str(session.pk),
        "tools": session.tools,
        "reminder": session.reminder,
        "prompt": session.prompt,
        "options": present_options(session.options),
        "has_options": has_options(session),
        "while_answering": session.while_answering,
        "is_temporary": session.is_temporary,
        "root": str(root_id),
        "leaf": str(session.leaf_id or root_id),
        "created_at": isoformat_utc(session.created_at),
        **present_listed_session(session),
    }


def has_options(session: Session) -> bool:
    """Whether it says how its models answer: by run options, or by a prompt of its own."""
    return bool(session.options or session.prompt)


def present_trashed_session(session: Session) -> JSONObject:
    """session: from annotate_sessions, in the trash."""
    times = {"deleted_at": session.deleted_at, "purge_at": session.purge_at}
    return present_session(session) | {name: isoformat_utc(time) for name, time in times.items() if time}


def present_listed_session(session: Session) -> JSONObject:
    """The members that a row of the list shows, and that `session_changed` carries. is_answering must be set."""
    return {
        "title": session.title,
        "agent": id_or_none(session.agent_id),
        "project": id_or_none(session.project_id),
        "knowledge_bases": [str(base) for base in session.knowledge_bases],
        "models": session.models,
        "n": session.latest_event,
        "updated_at": isoformat_utc(session.updated_at),
        "is_answering": session.is_answering,
        "is_unread": session.is_unread,
        "is_pinned": session.is_pinned,
        "is_archived": session.is_archived,
        "tags": session.tags,
    }
