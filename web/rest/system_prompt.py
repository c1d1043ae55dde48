"""Views with which staff read and replace the system prompt, with the admin's permissions."""

from typing import Annotated, Any, Final

from msgspec import Meta
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from chat.models import SystemPrompt
from chat.prompts import SYSTEM_PROMPT_FILE
from chat.protocol.body import Body
from web.rest.api_view import StrictAPIView, current_user
from web.rest.openapi import documented

_CHANGE: Final = "chat.change_systemprompt"
_VIEW: Final = "chat.view_systemprompt"


class SystemPromptPermission(BasePermission):
    """Staff who may change the prompt may read and replace it; staff who may view it may read it."""

    def has_permission(self, request: Request, view: Any) -> bool:  # noqa: ARG002
        user = current_user(request)
        sufficient = (_CHANGE, _VIEW) if request.method == "GET" else (_CHANGE,)
        return user.is_staff and any(user.has_perm(permission) for permission in sufficient)


class SystemPromptBody(Body):
    text: Annotated[str, Meta(max_length=100_000)]


class SystemPromptView(StrictAPIView):
    permission_classes: list[type[BasePermission]] = [SystemPromptPermission]

    @documented("system_prompt_read", answer=SystemPromptBody)
    def get(self, request: Request) -> Response:  # noqa: ARG002
        """Read the system prompt. Requires staff with the permission to view or change it."""
        return Response({"text": _current_text()})

    @documented("system_prompt_write", body=SystemPromptBody, answer=SystemPromptBody)
    def put(self, request: Request) -> Response:  # noqa: ARG002
        """Replace the system prompt. Requires staff with the permission to change it."""
        SystemPrompt.edit(self.parse(SystemPromptBody).text)
        return Response({"text": _current_text()})


def _current_text() -> str:
    edited = SystemPrompt.edited()
    return SYSTEM_PROMPT_FILE.read_text(encoding="utf-8") if edited is None else edited
