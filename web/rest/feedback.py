"""Views that store and delete the owner's feedback on an answer."""

from typing import Any

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from chat.models import Feedback, Role
from chat.presenters.messages import FeedbackAnswer
from chat.protocol.errors import ApiError
from web.rest.api_view import StrictAPIView
from web.rest.fields import StrictBooleanField, StrictCharField, StrictSerializer
from web.rest.messages import get_own_message
from web.rest.openapi import documented


class FeedbackBody(StrictSerializer):
    also = {
        "anyOf": [
            {"required": ["is_positive"], "properties": {"is_positive": {"type": "boolean"}}},
            {"required": ["text"], "properties": {"text": {"minLength": 1}}},
        ]
    }
    needs_body = True

    is_positive = StrictBooleanField(required=False, allow_null=True)
    text = StrictCharField(required=False, max_length=10_000)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs.get("is_positive") is None and not attrs.get("text"):
            raise ApiError("field_required", "Give is_positive, text or both.", field="is_positive")
        return attrs


class FeedbackView(StrictAPIView):
    @documented("feedback_write", body=FeedbackBody, answer=FeedbackAnswer)
    def put(self, request: Request, message: str) -> Response:
        """Store feedback; it replaces earlier feedback on the same answer."""
        found = get_own_message(request, message)
        body = self.body(FeedbackBody)
        if found.role != Role.ASSISTANT:
            raise ApiError("role_order", "Feedback is about answers.")
        feedback = FeedbackAnswer(is_positive=body.get("is_positive"), text=body.get("text", "")).json()
        Feedback.objects.update_or_create(message=found, defaults=feedback)
        return Response(feedback)

    @documented("feedback_delete", statuses=(204,))
    def delete(self, request: Request, message: str) -> Response:
        """Delete the feedback on an answer."""
        Feedback.objects.filter(message=get_own_message(request, message)).delete()
        return Response(status=status.HTTP_204_NO_CONTENT)
