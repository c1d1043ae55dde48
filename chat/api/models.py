"""The models a user may choose."""

from rest_framework.request import Request
from rest_framework.response import Response

from chat.api.answers import ModelAnswer
from chat.api.documented import documented
from chat.api.endpoint import Endpoint
from chat.models import ModelConfig
from chat.shapes import model_shape


class ModelsView(Endpoint):
    @documented("models_list", answer=ModelAnswer(many=True))
    def get(self, request: Request) -> Response:  # noqa: ARG002
        return Response([model_shape(model) for model in ModelConfig.objects.offered()])
