"""Taking back a question that waits."""

from rest_framework.request import Request
from rest_framework.response import Response

from chat.models import Session
from chat.presenters.sessions import annotate_sessions, present_session
from chat.turns.withdrawal import withdraw_question
from web.rest.messages import own_message
from web.rest.openapi import documented
from web.rest.schemas import SessionAnswer
from web.rest.view import Endpoint


class WithdrawalView(Endpoint):
    @documented("withdrawal_create", answer=SessionAnswer)
    def post(self, request: Request, message: str) -> Response:
        """Of the newest question, while it waits for the answer above; the branch then ends in that answer."""
        session = withdraw_question(own_message(request, message))
        return Response(present_session(annotate_sessions(Session.objects.filter(pk=session.pk)).get()))
