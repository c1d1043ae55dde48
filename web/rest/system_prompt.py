"""The base prompt, for staff."""

from rest_framework.permissions import BasePermission, IsAdminUser
from rest_framework.request import Request
from rest_framework.response import Response

from chat.models import SystemPrompt
from chat.prompts import SYSTEM_PROMPT_FILE
from web.rest.fields import StrictSerializer, Text
from web.rest.openapi import documented
from web.rest.view import Endpoint


class SystemPromptBody(StrictSerializer):
    text = Text(max_length=100_000)


class SystemPromptView(Endpoint):
    permission_classes: list[type[BasePermission]] = [IsAdminUser]

    @documented("system_prompt_read", answer=SystemPromptBody)
    def get(self, request: Request) -> Response:  # noqa: ARG002
        return Response({"text": _text()})

    @documented("system_prompt_write", body=SystemPromptBody, answer=SystemPromptBody)
    def put(self, request: Request) -> Response:  # noqa: ARG002
        SystemPrompt.edit(self.body(SystemPromptBody)["text"])
        return Response({"text": _text()})


def _text() -> str:
    edited = SystemPrompt.edited()
    return SYSTEM_PROMPT_FILE.read_text(encoding="utf-8") if edited is None else edited
