"""Taking back a question that waits."""

from rest_framework.request import Request
from rest_framework.response import Response

from chat import withdrawing
from chat.api.answers import SessionAnswer
from chat.api.documented import documented
from chat.api.endpoint import Endpoint
from chat.api.messages import own_message
from chat.models import Session
from chat.shapes import readable_sessions, session_shape


class WithdrawalView(Endpoint):
    @documented("withdrawal_create", answer=SessionAnswer)
    def post(self, request: Request, message: str) -> Response:
        """Of the newest question, while it waits for the answer above; the branch then ends in that answer."""
        session = withdrawing.withdraw(own_message(request, message))
        return Response(session_shape(readable_sessions(Session.objects.filter(pk=session.pk)).get()))
