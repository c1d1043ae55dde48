"""The route of feedback on answers. What is stored stands in the answers (chat/presenters/messages.py)."""

from typing import Annotated

from django.urls import path
from msgspec import Meta
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from chat.models import Feedback, Role
from chat.presenters.messages import FeedbackAnswer
from chat.protocol.body import Body
from chat.protocol.errors import ApiError
from web.rest.api_view import StrictAPIView
from web.rest.messages import get_own_message
from web.rest.openapi import documented


class FeedbackBody(Body):
    keywords = {"not": {"properties": {"is_positive": {"type": "null"}, "text": {"maxLength": 0}}}}
    needs_body = True

    is_positive: bool | None = None
    text: Annotated[str, Meta(max_length=10_000)] = ""

    def __post_init__(self) -> None:
        if self.is_positive is None and not self.text:
            raise ApiError("field_required", "Give is_positive, text or both.", field="is_positive")


class FeedbackView(StrictAPIView):
    @documented("feedback_write", body=FeedbackBody, answer=FeedbackAnswer)
    def put(self, request: Request, message: str) -> Response:
        """Store feedback; it replaces earlier feedback on the same answer."""
        answer = get_own_message(request, message)
        body = self.parse(FeedbackBody)
        if answer.role != Role.ASSISTANT:
            raise ApiError("role_order", "Feedback is about answers.")
        feedback = FeedbackAnswer(is_positive=body.is_positive, text=body.text).json()
        Feedback.objects.update_or_create(message=answer, defaults=feedback)
        return Response(feedback)

    @documented("feedback_delete", statuses=(204,))
    def delete(self, request: Request, message: str) -> Response:
        """Delete the feedback on an answer."""
        Feedback.objects.filter(message=get_own_message(request, message)).delete()
        return Response(status=status.HTTP_204_NO_CONTENT)


urlpatterns = [path("messages/<id:message>/feedback/", FeedbackView.as_view())]
