"""The view that changes several sessions at once."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from chat.protocol.body import Body
from chat.protocol.member_types import choice
from chat.protocol.members import DISTINCT
from chat.sessions.bulk import ACTIONS, MAX_SESSIONS, change_sessions
from web.rest.api_view import StrictAPIView, current_user
from web.rest.openapi import documented


class BulkBody(Body):
    ids: Annotated[list[UUID], Meta(max_length=MAX_SESSIONS), DISTINCT]
    action: Annotated[str, choice(ACTIONS, "`delete`: into the trash; `restore`: out of it again.")]


class BulkView(StrictAPIView):
    @documented("sessions_bulk", body=BulkBody, statuses=(204,))
    def post(self, request: Request) -> Response:
        """Archive, delete or restore several sessions: all of them, or none with 404 `session_not_found`."""
        body = self.parse(BulkBody)
        change_sessions(current_user(request), body.ids, body.action)
        return Response(status=status.HTTP_204_NO_CONTENT)
