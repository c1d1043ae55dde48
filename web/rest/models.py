"""The models a user may choose."""

from rest_framework.request import Request
from rest_framework.response import Response

from chat.models import ModelConfig
from chat.presenters.models import present_model
from web.rest.openapi import documented
from web.rest.schemas import ModelAnswer
from web.rest.view import Endpoint


class ModelsView(Endpoint):
    @documented("models_list", answer=ModelAnswer(many=True))
    def get(self, request: Request) -> Response:  # noqa: ARG002
        return Response([present_model(model) for model in ModelConfig.objects.offered()])
