"""Views that change the text of a message, or delete it."""

from typing import Annotated
from uuid import UUID

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from chat.log.progress import present_live_message
from chat.models import ChatMessage
from chat.presenters.messages import MessageAnswer
from chat.protocol.answer import Answer
from chat.protocol.body import Body
from chat.protocol.member_types import doc
from chat.turns.answer_edit import edit_answer
from chat.turns.deletion import delete_message
from chat.turns.request import MessageText
from chat.turns.waiting import change_question
from web.rest.api_view import StrictAPIView, query_flag
from web.rest.messages import get_own_message
from web.rest.openapi import FLAG, documented, query


class DeletedMessageAnswer(Answer):
    part: Annotated[
        UUID | None, doc("The session in the trash that restores it; null: it is deleted for good.")
    ]


class TextBody(Body):
    text: MessageText


class MessageView(StrictAPIView):
    @documented("messages_update", body=TextBody, answer=MessageAnswer)
    def patch(self, request: Request, message: str) -> Response:
        """Change the text of a question that waits for the answer above it; its files stay."""
        changed = change_question(get_own_message(request, message), self.parse(TextBody).text)
        return Response(present_live_message(ChatMessage.objects.get(pk=changed.pk)))

    @documented(
        "messages_delete",
        answer=DeletedMessageAnswer,
        parameters=[query("permanent", FLAG, "`1`: for good, not into the trash.")],
    )
    def delete(self, request: Request, message: str) -> Response:
        """Delete a question or an answer with all below it; the only answer of a question with the question.
        409 `turn_in_progress` while one of them is being answered.
        """
        is_permanent = query_flag(request, "permanent") or False
        part = delete_message(get_own_message(request, message), for_good=is_permanent)
        return Response(DeletedMessageAnswer(part.pk if part else None).json())


class AnswerEditsView(StrictAPIView):
    @documented("edits_create", body=TextBody, answer=MessageAnswer, statuses=(201,))
    def post(self, request: Request, message: str) -> Response:
        """Store another text for an answer as its sibling. The current branch then ends there."""
        edited = edit_answer(get_own_message(request, message), self.parse(TextBody).text)
        answer = ChatMessage.objects.select_related("run", "feedback").get(pk=edited.pk)
        return Response(present_live_message(answer), status.HTTP_201_CREATED)
