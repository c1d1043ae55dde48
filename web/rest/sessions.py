"""Sessions: create, list, search, rename, delete."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import ListField

from chat.events import session_list
from chat.models import Agent, Session
from chat.models.session import WhileAnswering
from chat.models.sql import session_search
from chat.presenters.sessions import annotate_sessions, present_session
from chat.protocol.errors import ApiError
from chat.sessions import deletion
from chat.sessions.settings import edit_session
from knowledge.models import Project
from web.rest.fields import Choice, Id, Number, StrictSerializer, Text
from web.rest.openapi import documented
from web.rest.pagination import NewestFirst
from web.rest.schemas import SessionAnswer, SessionPage
from web.rest.view import Endpoint, find, user_of


class SessionBody(StrictSerializer):
    title = Text(max_length=200, required=False)
    agent = Id(required=False, allow_null=True)
    project = Id(required=False, allow_null=True)
    knowledge_bases = ListField(child=Id(), required=False)
    while_answering = Choice(choices=WhileAnswering.values, required=False)


class SeenBody(StrictSerializer):
    n = Number(required=False, min_value=0, max_value=2**63 - 1)


class SessionsView(Endpoint):
    @documented(
        "sessions_list",
        answer=SessionPage,
        query={
            "search": "words, or beginnings of words, of the title or of one message",
            "limit": "1 to 200",
            "cursor": "from next",
        },
    )
    def get(self, request: Request) -> Response:
        """The newest first. What is searched for is shown with some words around it, in `match`."""
        text = request.query_params.get("search", "")
        sessions = Session.objects.search(user_of(request), text)
        page = NewestFirst()
        rows = page.paginate_queryset(annotate_sessions(sessions), request, view=self) or []
        shapes = [present_session(session) for session in rows]
        if text.strip():
            matches = session_search.around((session.pk for session in rows), text)
            shapes = [shape | {"match": matches.get(row.pk)} for row, shape in zip(rows, shapes, strict=True)]
        return page.get_paginated_response(shapes)

    @documented("sessions_create", body=SessionBody, answer=SessionAnswer, statuses=(201,))
    def post(self, request: Request) -> Response:
        session = Session.objects.start(user_of(request), **_fields(request, self.body(SessionBody)))
        session_list.publish_created(session)
        return Response(readable_shape(session), status.HTTP_201_CREATED)


class SessionView(Endpoint):
    @documented("sessions_read", answer=SessionAnswer)
    def get(self, request: Request, session: str) -> Response:
        return Response(readable_shape(own_session(request, session)))

    @documented("sessions_update", body=SessionBody, answer=SessionAnswer)
    def patch(self, request: Request, session: str) -> Response:
        found = own_session(request, session)
        edit_session(found, _fields(request, self.body(SessionBody)))
        return Response(readable_shape(found))

    @documented("sessions_delete", statuses=(204,))
    def delete(self, request: Request, session: str) -> Response:
        deletion.delete_session(own_session(request, session))
        return Response(status=status.HTTP_204_NO_CONTENT)


class SeenView(Endpoint):
    @documented("seen_write", body=SeenBody, statuses=(204,))
    def put(self, request: Request, session: str) -> Response:
        """The owner has seen the end of it, up to event `n` or as it is now; repeating it changes nothing."""
        found = own_session(request, session)
        session_list.mark_seen(found, self.body(SeenBody).get("n"))
        return Response(status=status.HTTP_204_NO_CONTENT)


def own_session(request: Request, pk: str) -> Session:
    return find(Session.objects.visible_to(user_of(request)), pk, "session")


def _fields(request: Request, body: dict[str, Any]) -> dict[str, Any]:
    """What a session stores of the body: the user's own rows instead of their ids. Raises ApiError."""
    owned: dict[str, QuerySet[Any]] = {
        "agent": Agent.objects.visible_to(user_of(request)),
        "project": Project.objects.visible_to(user_of(request)),
    }
    for noun, rows in owned.items():
        if body.get(noun) is not None:
            body[noun] = find(rows, str(body[noun]), noun, field=noun)
    if body.pop("knowledge_bases", None):
        raise ApiError("knowledge_base_not_found", field="knowledge_bases")
    return body


def readable_shape(session: Session) -> dict[str, Any]:
    """As clients see it now."""
    return present_session(annotate_sessions(Session.objects.filter(pk=session.pk)).get())
