"""The view that lists the models that users may choose."""

from rest_framework.request import Request
from rest_framework.response import Response

from chat.models import ModelConfig, Preferences
from chat.presenters.models import ModelAnswer, present_model
from web.rest.api_view import StrictAPIView, current_user
from web.rest.openapi import documented


class ModelsView(StrictAPIView):
    @documented("models_list", answer=list[ModelAnswer])
    def get(self, request: Request) -> Response:
        """List the models that users may choose."""
        preferred = Preferences.objects.of_user(current_user(request)).models
        return Response([present_model(model, preferred) for model in ModelConfig.objects.offered()])
