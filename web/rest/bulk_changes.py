"""The view that changes several sessions at once."""

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from chat.sessions.bulk import ACTIONS, MAX_SESSIONS, change_sessions
from web.rest.api_view import StrictAPIView, current_user
from web.rest.fields import StrictChoiceField, StrictSerializer, StrictUUIDField, UniqueListField
from web.rest.openapi import documented


class SessionIdsField(UniqueListField):
    """Ids of sessions."""

    child = StrictUUIDField()
    most = MAX_SESSIONS


class BulkBody(StrictSerializer):
    ids = SessionIdsField()
    action = StrictChoiceField(
        choices=[*ACTIONS], help_text="`delete`: into the trash; `restore`: out of it again."
    )


class BulkView(StrictAPIView):
    @documented("sessions_bulk", body=BulkBody, statuses=(204,))
    def post(self, request: Request) -> Response:
        """Archive, delete or restore several sessions: all of them, or none with 404 `session_not_found`."""
        body = self.body(BulkBody)
        change_sessions(current_user(request), body["ids"], body["action"])
        return Response(status=status.HTTP_204_NO_CONTENT)
