"""The view that withdraws a queued question."""

from rest_framework.request import Request
from rest_framework.response import Response

from chat.presenters.sessions import SessionAnswer
from chat.turns.withdrawal import withdraw_question
from web.rest.api_view import StrictAPIView
from web.rest.messages import get_own_message
from web.rest.openapi import documented
from web.rest.sessions import present_current


class WithdrawalView(StrictAPIView):
    @documented("withdrawal_create", answer=SessionAnswer)
    def post(self, request: Request, message: str) -> Response:
        """Withdraw a question that waits for the answer above it. Questions that wait below it take its place."""
        session = withdraw_question(get_own_message(request, message))
        return Response(present_current(session))
