"""The view that lists the models that users may choose."""

from collections.abc import Collection, Sequence
from typing import Annotated

from rest_framework.request import Request
from rest_framework.response import Response

from chat.models import ModelConfig, Preferences
from chat.presenters.json_values import JSONObject
from chat.protocol.answer import Answer, doc
from chat.protocol.errors import ApiError
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
