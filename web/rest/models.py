"""Lists the models that users may choose."""

from rest_framework.request import Request
from rest_framework.response import Response

from chat.models import ModelConfig
from chat.presenters.models import present_model
from web.rest.api_view import StrictAPIView
from web.rest.openapi import documented
from web.rest.response_schemas import ModelAnswer


class ModelsView(StrictAPIView):
    @documented("models_list", answer=ModelAnswer(many=True))
    def get(self, request: Request) -> Response:  # noqa: ARG002
        """List the models that users may choose."""
        return Response([present_model(model) for model in ModelConfig.objects.offered()])
