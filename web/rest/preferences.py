"""The view that reads and changes the user's preferences for all chats."""

from typing import Annotated, Final

from msgspec import UNSET, Meta, UnsetType
from rest_framework.request import Request
from rest_framework.response import Response

from chat.models import Preferences
from chat.presenters.json_values import JSONObject
from chat.protocol.answer import Answer, doc
from chat.protocol.body import Body, Models
from chat.transcript.tokens import count_tokens
from web.rest.api_view import StrictAPIView, current_user
from web.rest.models import check_offered
from web.rest.openapi import documented

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
