"""Preferences as clients see them."""

from typing import Annotated

from chat.models import Preferences
from chat.presenters.json_values import JSONObject
from chat.protocol.answer import Answer
from chat.protocol.member_types import doc
from chat.transcript.tokens import count_tokens


class PreferencesAnswer(Answer):
    instructions: Annotated[str, doc("Part of the system prompt of all of the user's chats.")]
    uses_instructions: Annotated[bool, doc("False: they are kept, but not sent.")]
    instruction_tokens: Annotated[int, doc("What the text takes of each request, in the default encoding.")]
    models: Annotated[
        list[str],
        doc("They answer where neither chat nor agent names models; of these, those that are still offered."),
    ]


def present_preferences(preferences: Preferences) -> JSONObject:
    tokens = count_tokens(preferences.instructions)
    return PreferencesAnswer.from_row(preferences, instruction_tokens=tokens).json()
