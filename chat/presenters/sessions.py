"""Sessions as clients see them: whole, and as rows of a list."""

from typing import TYPE_CHECKING, Annotated
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet, Subquery
from msgspec import UNSET, UnsetType

from chat.models import ChatMessage, Role, Session, Turn
from chat.presenters.json_values import JSONObject
from chat.protocol.answer import Answer, Moment, doc, with_members
from chat.protocol.states import Status
from chat.transcript.answer_settings import SessionSettings, present_options


class SessionMembers(Answer):
    """The members that the session, its row of the list and both events about it have."""

    title: str
    agent: UUID | None
    project: UUID | None
    knowledge_bases: list[UUID]
    models: Annotated[list[str], doc("Those that the owner chose or a turn named last; may be empty.")]
    is_pinned: Annotated[bool, doc("Clients show it above the others.")]
    is_archived: Annotated[bool, doc("It is left out of the list, and found by searches.")]
    tags: list[str]


class ListedSession(SessionMembers):
    """A row of the list, as `session_changed` has it as well."""

    n: Annotated[int, doc("That of the session's newest event.")]
    updated_at: Moment
    is_answering: Annotated[bool, doc("A turn of the session is running or queued.")]
    is_waiting: Annotated[
        bool, doc("A tool call of such a turn waits for its user: an approval, an answer or a sign-in.")
    ]
    is_unread: Annotated[bool, doc("A turn of the session has ended since its owner last saw it.")]


if TYPE_CHECKING:
    _ChangedMembers = SessionMembers
    _AllMembers = ListedSession
else:
    # Long ones are read by REST.
    _ChangedMembers = with_members(SessionMembers, SessionSettings, without=("prompt", "reminder", "options"))
    _AllMembers = with_members(ListedSession, SessionSettings)


class ChangedSession(_ChangedMembers):
    """The payload of the event `session`."""

    has_options: Annotated[bool, doc("It has run options or a prompt; read them by REST.")]
    is_temporary: Annotated[
        bool,
        doc(
            "Of a temporary session, whose changes session_changed does not tell; false also once it is kept."
        ),
    ]
    leaf: Annotated[UUID | None, doc("The tip of the current branch.")]


class SessionAnswer(_AllMembers, kw_only=True):
    id: UUID
    has_options: Annotated[bool, doc("Whether there are options or a prompt.")]
    is_temporary: Annotated[bool, doc("Of one that is in no list.")]
    root: UUID
    leaf: UUID
    match: Annotated[str | UnsetType | None, doc("The text around the match.")] = UNSET
    match_message: Annotated[
        UUID | UnsetType | None, doc("The first message that matches, on any branch.")
    ] = UNSET
    created_at: Moment


class TrashedSessionAnswer(SessionAnswer, kw_only=True):
    deleted_at: Moment
    purge_at: Annotated[Moment, doc("When it is deleted for good.")]
    is_part: Annotated[bool, doc("Messages that were deleted from another session.")]


def annotate_sessions(sessions: QuerySet[Session]) -> QuerySet[Session]:
    """Add root_id, is_answering and is_waiting, which present_session needs."""
    roots = ChatMessage.objects.filter(session=OuterRef("pk"), role=Role.ROOT)
    turns = Turn.objects.filter(session=OuterRef("pk"), ended_at=None)
    waiting = turns.filter(runs__status=Status.WAITING)
    annotated = sessions.annotate(is_answering=Exists(turns), is_waiting=Exists(waiting))  # type: ignore[no-redef]
    return annotated.annotate(root_id=Subquery(roots.values("pk")))


def present_session(session: Session) -> JSONObject:
    """Present a session from annotate_sessions."""
    return SessionAnswer.from_row(session, session.settings, **_members(session)).json()


def present_trashed_session(session: Session) -> JSONObject:
    """Present a session in the trash, from annotate_sessions."""
    members = _members(session)
    return TrashedSessionAnswer.from_row(
        session, session.settings, **members, is_part=session.part_of is not None
    ).json()


def present_changed_session(session: Session) -> JSONObject:
    return ChangedSession.from_row(
        session,
        session.settings,
        agent=session.agent_id,
        project=session.project_id,
        leaf=session.leaf_id,
        has_options=has_options(session),
    ).json()


def has_options(session: Session) -> bool:
    """Return whether the session says how its models answer: by run options, or by a prompt of its own."""
    return bool(session.settings.options or session.settings.prompt)


def _members(session: Session) -> JSONObject:
    """Return the members that are not the row's attributes of the same name."""
    root = session.root_id  # type: ignore[attr-defined]
    return {
        **listed_members(session),
        "id": session.pk,
        "root": root,
        "leaf": session.leaf_id or root,
        "options": present_options(session.settings.options),
        "has_options": has_options(session),
    }


def listed_members(session: Session) -> JSONObject:
    """Return the members of a ListedSession that are not the row's attributes of the same name."""
    return {"agent": session.agent_id, "project": session.project_id, "n": session.latest_event}
