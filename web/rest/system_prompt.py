"""Views with which staff read and replace the system prompt."""

from rest_framework.permissions import BasePermission, IsAdminUser
from rest_framework.request import Request
from rest_framework.response import Response

from chat.models import SystemPrompt
from chat.prompts import SYSTEM_PROMPT_FILE
from web.rest.api_view import StrictAPIView
from web.rest.fields import StrictCharField, StrictSerializer
from web.rest.openapi import documented


class SystemPromptBody(StrictSerializer):
    text = StrictCharField(max_length=100_000)


class SystemPromptView(StrictAPIView):
    permission_classes: list[type[BasePermission]] = [IsAdminUser]

    @documented("system_prompt_read", answer=SystemPromptBody)
    def get(self, request: Request) -> Response:  # noqa: ARG002
        """Read the system prompt."""
        return Response({"text": _current_text()})

    @documented("system_prompt_write", body=SystemPromptBody, answer=SystemPromptBody)
    def put(self, request: Request) -> Response:  # noqa: ARG002
        """Replace the system prompt."""
        SystemPrompt.edit(self.body(SystemPromptBody)["text"])
        return Response({"text": _current_text()})


def _current_text() -> str:
    edited = SystemPrompt.edited()
    return SYSTEM_PROMPT_FILE.read_text(encoding="utf-8") if edited is None else edited
