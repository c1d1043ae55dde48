"""Views that change the text of a message."""

from django.conf import settings
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from chat.log.progress import present_live_message
from chat.models import ChatMessage
from chat.presenters.messages import MessageAnswer
from chat.turns.answer_edit import edit_answer
from chat.turns.question_text import change_question
from web.rest.api_view import StrictAPIView
from web.rest.fields import StrictSerializer, VisibleCharField
from web.rest.messages import get_own_message
from web.rest.openapi import documented


class TextBody(StrictSerializer):
    never_partial = True
    text = VisibleCharField(
        code="message_empty",
        help_text=f"At most {settings.MAX_MESSAGE_CHARACTERS} characters; a longer one is answered 413, with its `size`.",
    )


class MessageView(StrictAPIView):
    @documented("messages_update", body=TextBody, answer=MessageAnswer)
    def patch(self, request: Request, message: str) -> Response:
        """Change the text of a question that waits for the answer above it; its files stay."""
        changed = change_question(get_own_message(request, message), self.body(TextBody)["text"])
        return Response(present_live_message(ChatMessage.objects.get(pk=changed.pk)))


class AnswerEditsView(StrictAPIView):
    @documented("edits_create", body=TextBody, answer=MessageAnswer, statuses=(201,))
    def post(self, request: Request, message: str) -> Response:
        """Store another text for an answer as its sibling. The current branch then ends there."""
        edited = edit_answer(get_own_message(request, message), self.body(TextBody)["text"])
        answer = ChatMessage.objects.select_related("run", "feedback").get(pk=edited.pk)
        return Response(present_live_message(answer), status.HTTP_201_CREATED)
