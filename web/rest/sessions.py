"""Views of sessions: create, list, search, update, delete, mark as seen, fork, change several at once."""

from collections.abc import Collection
from contextlib import suppress
from typing import Annotated, Any
from uuid import UUID

from django.db.models import QuerySet
from msgspec import UNSET, Meta, UnsetType
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from chat.events import session_list
from chat.models import Agent, Role, Session
from chat.models.sql import session_search
from chat.presenters.sessions import SessionAnswer, annotate_sessions, present_session
from chat.protocol.answer import choice, doc
from chat.protocol.body import DISTINCT, Body, KnowledgeBases, Models
from chat.protocol.errors import ApiError
from chat.sessions import deletion
from chat.sessions.bulk import ACTIONS, MAX_SESSIONS, change_sessions
from chat.sessions.forking import MAX_TITLE, fork_session
from chat.sessions.settings import SettingsBody, Tags, create_session, edit_session
from chat.transcript.answer_settings import OptionsBody
from chat.turns.deletion import put_back
from chat.turns.knowledge_bases import choose_bases
from chat.turns.request import Tools
from knowledge.models import Project
from web.rest.api_view import StrictAPIView, current_user, get_own_row, query_flag
from web.rest.openapi import FLAG, ID, TEXT, documented, query
from web.rest.pagination import PAGE_PARAMETERS, NewestFirstPagination, Page
from web.rest.preferences import check_offered
from web.rest.request_slots import EXPENSIVE, UserSlots


class SessionPage(Page):
    results: list[SessionAnswer]


class SessionBody(SettingsBody):
    title: Annotated[str, Meta(max_length=200)] | UnsetType = UNSET
    agent: UUID | UnsetType | None = UNSET
    project: UUID | UnsetType | None = UNSET
    knowledge_bases: KnowledgeBases | UnsetType = UNSET
    tags: Tags | UnsetType = UNSET
    models: Models | UnsetType = UNSET
    tools: Tools | UnsetType = UNSET
    options: (
        Annotated[
            OptionsBody, doc("Of turns that say nothing else, over the agent's; replaces all earlier ones.")
        ]
        | UnsetType
    ) = UNSET


class NewSessionBody(SessionBody):
    is_temporary: (
        Annotated[bool, doc("In no list, and deleted for good when it is left; in no project.")] | UnsetType
    ) = UNSET


class SessionChangesBody(SessionBody):
    is_pinned: bool | UnsetType = UNSET
    is_archived: bool | UnsetType = UNSET
    # Whether a session is temporary is decided when it is created.
    is_temporary: (
        Annotated[bool, Meta(extra_json_schema={"enum": [False]}), doc("`false`: keep a temporary session.")]
        | UnsetType
    ) = UNSET


class SeenBody(Body):
    n: Annotated[int, Meta(ge=0, le=2**63 - 1)] | UnsetType = UNSET


class SessionPagination(NewestFirstPagination):
    long_columns = ("settings",)


class SessionsView(StrictAPIView):
    def slots_of(self, request: Request) -> UserSlots:
        return EXPENSIVE if request.query_params.get("search") else super().slots_of(request)

    @documented(
        "sessions_list",
        answer=SessionPage,
        parameters=[
            query("project", ID, "Only sessions of this project."),
            query("search", TEXT, "Words, or beginnings of words, of the title or of one message."),
            query("tag", TEXT, "Only sessions with this tag, however it is capitalised."),
            query("pinned", FLAG, "Only sessions that are pinned, or none of them."),
            query(
                "archived",
                FLAG,
                "Only the archive, or nothing of it. Left out: searches find it, the list leaves it out.",
            ),
            *PAGE_PARAMETERS,
        ],
    )
    def get(self, request: Request) -> Response:
        """List sessions, latest update first.
        With `search`, `match` is the matching text with its context, and `match_message` is its message.
        """
        text = request.query_params.get("search", "")
        sessions = Session.objects.search(current_user(request), text)
        if "project" in request.query_params:
            own = Project.objects.visible_to(current_user(request))
            project = get_own_row(own, request.query_params["project"], "project", field="project")
            sessions = sessions.filter(project=project)
        if "tag" in request.query_params:
            sessions = sessions.tagged(current_user(request), request.query_params["tag"])
        is_archived = query_flag(request, "archived")
        if is_archived is None and not text.strip():
            is_archived = False
        sessions = sessions.in_state(is_pinned=query_flag(request, "pinned"), is_archived=is_archived)
        page = SessionPagination()
        rows = page.paginate_queryset(annotate_sessions(sessions), request, view=self) or []
        shapes = [present_session(session) for session in rows]
        if text.strip():
            found = session_search.hits((session.pk for session in rows), text)
            shapes = [
                shape | _present_hit(found.get(row.pk)) for row, shape in zip(rows, shapes, strict=True)
            ]
        return page.get_paginated_response(shapes)

    @documented("sessions_create", body=NewSessionBody, answer=SessionAnswer, statuses=(201,))
    def post(self, request: Request) -> Response:
        """Create a session.
        A temporary session is deleted `TEMPORARY_CHAT_MINUTES` after the last socket has left it and its answers have
        ended.
        """
        fields = _resolve_fields(request, self.parse(NewSessionBody).members(), stored_bases=())
        session = create_session(current_user(request), **fields)
        return Response(present_current(session), status.HTTP_201_CREATED)


class SessionView(StrictAPIView):
    @documented("sessions_read", answer=SessionAnswer)
    def get(self, request: Request, session: str) -> Response:
        """Read a session."""
        return Response(present_current(get_own_session(request, session)))

    @documented("sessions_update", body=SessionChangesBody, answer=SessionAnswer)
    def patch(self, request: Request, session: str) -> Response:
        """Update a session; omitted fields stay as they are."""
        found = get_own_session(request, session)
        changes = self.parse(SessionChangesBody).members()
        edit_session(found, _resolve_fields(request, changes, found.settings.knowledge_bases))
        return Response(present_current(found))

    @documented(
        "sessions_delete",
        statuses=(204,),
        parameters=[
            query("permanent", FLAG, "`1`: for good, not into the trash."),
            query("if_empty", FLAG, "`1`: only if it holds no message, and for good."),
        ],
    )
    def delete(self, request: Request, session: str) -> Response:
        """Delete a session with its messages: into the trash, where only `trash/` finds it, or for good.
        A temporary session is always deleted for good.
        """
        found = get_own_session(request, session)
        is_permanent = query_flag(request, "permanent")
        if query_flag(request, "if_empty"):
            deletion.delete_empty(found)
        elif is_permanent:
            deletion.delete_for_good(found)
        else:
            deletion.delete_session(found)
        return Response(status=status.HTTP_204_NO_CONTENT)


class SeenView(StrictAPIView):
    @documented("seen_write", body=SeenBody, statuses=(204,))
    def put(self, request: Request, session: str) -> Response:
        """Mark the session as seen by its owner, up to event `n` or up to now. Idempotent."""
        found = get_own_session(request, session)
        session_list.mark_seen(found, self.parse(SeenBody).members().get("n"))
        return Response(status=status.HTTP_204_NO_CONTENT)


def _present_hit(hit: session_search.Hit | None) -> dict[str, Any]:
    return {"match": hit and hit.excerpt, "match_message": str(hit.message) if hit else None}


def get_own_session(request: Request, pk: str) -> Session:
    return get_own_row(Session.objects.visible_to(current_user(request)), pk, "session")


def _resolve_fields(request: Request, body: dict[str, Any], stored_bases: Collection[UUID]) -> dict[str, Any]:
    """Return the fields to store, with the user's own rows in place of their ids. Raises ApiError.

    stored_bases: the knowledge bases that the session has.
    """
    owned: dict[str, QuerySet[Any]] = {
        "agent": Agent.objects.usable_by(current_user(request)),
        "project": Project.objects.visible_to(current_user(request)),
    }
    for noun, rows in owned.items():
        if body.get(noun) is not None:
            body[noun] = get_own_row(rows, str(body[noun]), noun, field=noun)
    choose_bases(current_user(request), body.get("knowledge_bases", ()), stored_bases)
    check_offered(body.get("models"))
    return body


def present_current(session: Session) -> dict[str, Any]:
    """Load the session again and present it. Raises ApiError if it was deleted meanwhile."""
    current = annotate_sessions(Session.objects.filter(pk=session.pk)).first()
    if current is None:
        raise ApiError("session_not_found")
    return present_session(current)


class ForkBody(Body):
    message: Annotated[UUID, doc("The answer in which the new session ends.")]
    title: Annotated[str, Meta(max_length=MAX_TITLE), doc("Empty: the session's, numbered.")] = ""


class ForkView(StrictAPIView):
    slots = EXPENSIVE

    @documented("sessions_fork", body=ForkBody, answer=SessionAnswer, statuses=(201,))
    def post(self, request: Request, session: str) -> Response:
        """Copy the branch up to an answer into a new session. 409 while a run of it is in progress.
        The copied runs count as imported.
        """
        source = get_own_session(request, session)
        body = self.parse(ForkBody)
        nodes = source.messages.exclude(role=Role.SUMMARY)
        answer = get_own_row(nodes, str(body.message), "message", field="message")
        fork = fork_session(source, answer, body.title)
        return Response(present_current(fork), status.HTTP_201_CREATED)


class BulkBody(Body):
    ids: Annotated[list[UUID], Meta(max_length=MAX_SESSIONS), DISTINCT]
    action: Annotated[str, choice(ACTIONS, "`delete`: into the trash; `restore`: out of it again.")]


class BulkView(StrictAPIView):
    @documented("sessions_bulk", body=BulkBody, statuses=(204,))
    def post(self, request: Request) -> Response:
        """Archive, delete or restore several sessions: all of them, or none with 404 `session_not_found`. Deleted messages
        among them are then put back one after the other, each into its own session.
        """
        body = self.parse(BulkBody)
        for part in change_sessions(current_user(request), body.ids, body.action):
            with suppress(ApiError):  # gone meanwhile
                put_back(part) or deletion.restore_session(part)
        return Response(status=status.HTTP_204_NO_CONTENT)
