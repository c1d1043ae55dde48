"""Feedback: what the owner thought of an answer."""

from typing import Any

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from chat.models import Feedback, Role
from chat.protocol.errors import ApiError
from web.rest.fields import Boolean, StrictSerializer, Text
from web.rest.messages import own_message
from web.rest.openapi import documented
from web.rest.schemas import FeedbackAnswer
from web.rest.view import Endpoint


class FeedbackBody(StrictSerializer):
    is_positive = Boolean(required=False, allow_null=True)
    text = Text(required=False, max_length=10_000)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs.get("is_positive") is None and not attrs.get("text"):
            raise ApiError("field_required", "Give is_positive, text or both.", field="is_positive")
        return attrs


class FeedbackView(Endpoint):
    @documented("feedback_write", body=FeedbackBody, answer=FeedbackAnswer)
    def put(self, request: Request, message: str) -> Response:
        """Replaces earlier feedback."""
        found = own_message(request, message)
        body = self.body(FeedbackBody)
        if found.role != Role.ASSISTANT:
            raise ApiError("role_order", "Feedback is about answers.")
        said = {"is_positive": body.get("is_positive"), "text": body.get("text", "")}
        Feedback.objects.update_or_create(message=found, defaults=said)
        return Response(said)

    @documented("feedback_delete", statuses=(204,))
    def delete(self, request: Request, message: str) -> Response:
        Feedback.objects.filter(message=own_message(request, message)).delete()
        return Response(status=status.HTTP_204_NO_CONTENT)
