"""Views of the compression of a session's current branch: read or delete the current summary, request a new one."""

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from chat.compressions import requests as compression_requests
from chat.compressions.summaries import find_summary_for_branch
from chat.models import ChatMessage, Compression, TriggeredBy
from chat.presenters.summaries import CompressionAnswer, CompressionAskedAnswer, present_summary
from chat.protocol.body import Body
from web.rest.api_view import StrictAPIView
from web.rest.openapi import documented
from web.rest.sessions import get_own_session


class CompressionView(StrictAPIView):
    @documented("compression_read", answer=CompressionAnswer)
    def get(self, request: Request, session: str) -> Response:
        """Read the summary of the current branch, and whether a compression is in progress."""
        found = get_own_session(request, session)
        summary = find_summary_for_branch(ChatMessage.objects.tip_of(found))
        under_way = Compression.objects.under_way().filter(session=found)
        shape = present_summary(ChatMessage.objects.get(pk=summary.id)) if summary else None
        return Response(CompressionAnswer(summary=shape, is_under_way=under_way.exists()).json())

    @documented("summary_delete", statuses=(204,))
    def delete(self, request: Request, session: str) -> Response:
        """Delete the summary of the current branch; the messages that it covers are sent to the model again. 204 also if
        there is none."""
        found = get_own_session(request, session)
        summary = find_summary_for_branch(ChatMessage.objects.tip_of(found))
        message = ChatMessage.objects.filter(pk=summary.id).first() if summary else None
        if message:
            compression_requests.delete_summary(message)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @documented("compression_start", answer=CompressionAskedAnswer, statuses=(202, 200))
    def post(self, request: Request, session: str) -> Response:
        """Request a compression of the current branch. 200 if there is nothing to compress."""
        found = get_own_session(request, session)
        self.parse(Body)
        if compression_requests.request_by_hand(found, TriggeredBy.USER):
            return Response(CompressionAskedAnswer(status="queued").json(), status.HTTP_202_ACCEPTED)
        return Response(CompressionAskedAnswer(status="nothing_to_compress").json(), status.HTTP_200_OK)
