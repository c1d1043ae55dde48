"""Views of what holds for all chats: the models that users may choose, the system prompt, and the user's preferences."""

from collections.abc import Collection, Sequence
from typing import Annotated, Any, Final

from msgspec import UNSET, Meta, UnsetType
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from chat.models import ModelConfig, Preferences, SystemPrompt
from chat.presenters.json_values import JSONObject
from chat.prompts import SYSTEM_PROMPT_FILE
from chat.protocol.answer import Answer, doc
from chat.protocol.body import Body, Models
from chat.protocol.errors import ApiError
from chat.transcript.tokens import count_tokens
from web.rest.api_view import StrictAPIView, current_user
from web.rest.openapi import documented


class ModelAnswer(Answer):
    name: str
    context_window: int
    supports_vision: bool
    supports_tools: bool
    max_output_tokens: Annotated[int, doc("The largest limit that `options` may have.")]
    unsupported_options: Annotated[list[str], doc("Members of `options` that are refused.")]
    is_default: Annotated[bool, doc("Of the server.")]
    is_own_default: Annotated[
        bool, doc("Of the user: these answer where neither chat nor agent names models.")
    ]
    is_demo: bool


def present_model(model: ModelConfig, preferred: Collection[str]) -> JSONObject:
    """Present a model. preferred: the names of the user's own default models."""
    return ModelAnswer.from_row(
        model,
        max_output_tokens=model.most_output_tokens,
        unsupported_options=model.refused_options,
        is_own_default=model.name in preferred,
    ).json()


class ModelsView(StrictAPIView):
    @documented("models_list", answer=list[ModelAnswer])
    def get(self, request: Request) -> Response:
        """List the models that users may choose."""
        preferred = Preferences.objects.of_user(current_user(request)).models
        return Response([present_model(model, preferred) for model in ModelConfig.objects.offered()])


def check_offered(models: Sequence[str] | None) -> None:
    """Raise ApiError unless users may choose all of these distinct models."""
    if models and len(ModelConfig.objects.offered_named(models)) != len(models):
        raise ApiError("models_invalid", field="models")


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


# Every request to a model contains them.
MAX_INSTRUCTION_CHARACTERS: Final = 4_000


class PreferencesBody(Body):
    instructions: Annotated[str, Meta(max_length=MAX_INSTRUCTION_CHARACTERS)] | UnsetType = UNSET
    uses_instructions: bool | UnsetType = UNSET
    models: Models | UnsetType = UNSET


class PreferencesAnswer(Answer):
    instructions: Annotated[str, doc("Part of the system prompt of all of the user's chats.")]
    uses_instructions: Annotated[bool, doc("False: they are kept, but not sent.")]
    instruction_tokens: Annotated[int, doc("What the text takes of each request, in the default encoding.")]
    models: Annotated[
        list[str],
        doc("They answer where neither chat nor agent names models; of these, those that are still offered."),
    ]


class PreferencesView(StrictAPIView):
    @documented("preferences_read", answer=PreferencesAnswer)
    def get(self, request: Request) -> Response:
        """Read the user's preferences for all chats."""
        return Response(present_preferences(Preferences.objects.of_user(current_user(request))))

    @documented("preferences_update", body=PreferencesBody, answer=PreferencesAnswer)
    def patch(self, request: Request) -> Response:
        """Change the user's preferences for all chats, from the next answer on; omitted fields stay as they are."""
        fields = self.parse(PreferencesBody).members()
        check_offered(fields.get("models"))
        return Response(present_preferences(Preferences.objects.change(current_user(request), **fields)))


def present_preferences(preferences: Preferences) -> JSONObject:
    tokens = count_tokens(preferences.instructions)
    return PreferencesAnswer.from_row(preferences, instruction_tokens=tokens).json()
