"""The base prompt, for staff."""

from pathlib import Path
from typing import Final

from rest_framework.permissions import BasePermission, IsAdminUser
from rest_framework.request import Request
from rest_framework.response import Response

from chat.api.documented import documented
from chat.api.endpoint import Endpoint
from chat.api.fields import StrictSerializer, Text
from chat.models import SystemPrompt

DEFAULT: Final = Path(__file__).parent.parent / "prompts" / "system.md"


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
    return DEFAULT.read_text(encoding="utf-8") if edited is None else edited
