"""The routes of OpenAI's API below /v1/, for clients that speak it already."""

from typing import Annotated

from django.urls import path, re_path
from rest_framework.request import Request
from rest_framework.response import Response

from chat.models import Agent, ModelConfig
from chat.protocol.answer import Answer
from chat.protocol.member_types import choice, doc
from features.openai.authentication import BearerAuthentication, HasToken
from features.openai.errors import OpenAIErrorAnswer
from features.openai.offered_models import agent_id, find_model, list_models
from web.rest.api_view import StrictAPIView, current_user
from web.rest.openapi import documented
from web.rest.schema_views import not_found


class OpenAIModelAnswer(Answer):
    id: Annotated[str, doc("The model's name, or `agent/` and the lowercase name of an agent.")]
    object: Annotated[str, choice(["model"])]
    created: Annotated[int, doc("Seconds since 1970, of an agent; 0 of a model.")]
    owned_by: str


class OpenAIModelsAnswer(Answer):
    object: Annotated[str, choice(["list"])]
    data: list[OpenAIModelAnswer]


class OpenAIView(StrictAPIView):
    authentication_classes = [BearerAuthentication]
    permission_classes = [HasToken]
    error_answer = OpenAIErrorAnswer


class OpenAIModelsView(OpenAIView):
    @documented("openai_models_list", answer=OpenAIModelsAnswer)
    def get(self, request: Request) -> Response:
        """List the models that the user may choose, and the user's agents."""
        models = [_describe(model) for model in list_models(current_user(request))]
        return Response(OpenAIModelsAnswer("list", models).json())


class OpenAIModelView(OpenAIView):
    @documented("openai_models_read", answer=OpenAIModelAnswer)
    def get(self, request: Request, model: str) -> Response:
        """Read one of them."""
        return Response(_describe(find_model(current_user(request), model)).json())


def _describe(model: ModelConfig | Agent) -> OpenAIModelAnswer:
    if isinstance(model, ModelConfig):
        return OpenAIModelAnswer(model.name, "model", 0, "turnwire")
    return OpenAIModelAnswer(agent_id(model), "model", int(model.created_at.timestamp()), "user")


urlpatterns = [
    path("models", OpenAIModelsView.as_view()),
    path("models/<path:model>", OpenAIModelView.as_view()),
    re_path(r"", not_found),
]
