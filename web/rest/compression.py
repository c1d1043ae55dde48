"""Views of the compression of a session's current branch: read or delete the current summary, request a new one."""

from typing import Annotated
from uuid import UUID

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from chat.compressions import requests as compression_requests
from chat.compressions.summaries import find_summary_for_branch
from chat.models import ChatMessage, Compression, TriggeredBy
from chat.protocol.answer import Answer, Moment, choice
from chat.protocol.body import Body
from web.rest.api_view import StrictAPIView
from web.rest.openapi import documented
from web.rest.sessions import get_own_session


class CompressionAskedAnswer(Answer):
    status: Annotated[str, choice(["queued", "nothing_to_compress"])]


class SummaryAnswer(Answer):
    id: UUID
    parent: UUID
    last_summarized_message: UUID
    text: str
    token_count: int
    saved_tokens: int | None
    model: str | None
    sent_at: Moment


class CompressionAnswer(Answer):
    summary: SummaryAnswer | None
    is_under_way: bool


def present_summary(message: ChatMessage) -> SummaryAnswer:
    made_by = message.made_by.first()
    return SummaryAnswer.from_row(
        message,
        parent=message.parent_id,
        last_summarized_message=message.last_summarized_message_id,
        saved_tokens=made_by.saved_tokens if made_by else None,
        model=made_by.model if made_by else None,
    )


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
