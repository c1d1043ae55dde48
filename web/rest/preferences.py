"""The views with which users read and change what they have chosen for all of their chats."""

from typing import Final

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from chat.models import Preferences
from chat.presenters.preferences import present_preferences
from web.rest.agents import check_offered
from web.rest.api_view import StrictAPIView, current_user
from web.rest.fields import ModelNamesField, StrictBooleanField, StrictCharField, StrictSerializer
from web.rest.openapi import documented
from web.rest.response_schemas import ResponseSchema

# Every request to a model contains them.
MAX_INSTRUCTION_CHARACTERS: Final = 4_000


class PreferencesAnswer(ResponseSchema):
    instructions = serializers.CharField(help_text="Part of the system prompt of all of the user's chats.")
    uses_instructions = serializers.BooleanField(help_text="False: they are kept, but not sent.")
    instruction_tokens = serializers.IntegerField(
        help_text="What the text takes of each request, in the default encoding."
    )
    models = serializers.ListField(
        child=serializers.CharField(),
        help_text="They answer where neither chat nor agent names models; of these, those that are still offered.",
    )


class PreferencesBody(StrictSerializer):
    instructions = StrictCharField(max_length=MAX_INSTRUCTION_CHARACTERS, required=False)
    uses_instructions = StrictBooleanField(required=False)
    models = ModelNamesField(required=False)


class PreferencesView(StrictAPIView):
    @documented("preferences_read", answer=PreferencesAnswer)
    def get(self, request: Request) -> Response:
        """Read what the user has chosen for all chats."""
        return Response(present_preferences(Preferences.objects.of(current_user(request))))

    @documented("preferences_update", body=PreferencesBody(partial=True), answer=PreferencesAnswer)
    def patch(self, request: Request) -> Response:
        """Change what the user has chosen for all chats, from the next answer on; omitted fields stay as they are."""
        fields = self.body(PreferencesBody, partial=True)
        check_offered(fields.get("models"))
        return Response(present_preferences(Preferences.objects.change(current_user(request), **fields)))
