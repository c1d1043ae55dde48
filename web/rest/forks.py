"""The view that forks a session from one of its answers."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from chat.models import Role
from chat.presenters.sessions import SessionAnswer
from chat.protocol.body import Body
from chat.protocol.member_types import doc
from chat.sessions.forking import MAX_TITLE, fork_session
from web.rest.api_view import StrictAPIView, get_own_row
from web.rest.openapi import documented
from web.rest.request_slots import EXPENSIVE
from web.rest.sessions import get_own_session, present_current


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
        found = get_own_session(request, session)
        body = self.parse(ForkBody)
        nodes = found.messages.exclude(role=Role.SUMMARY)
        answer = get_own_row(nodes, str(body.message), "message", field="message")
        fork = fork_session(found, answer, body.title)
        return Response(present_current(fork), status.HTTP_201_CREATED)
