"""Preferences as clients see them."""

from chat.models import Preferences
from chat.presenters.json_values import JSONObject
from chat.transcript.tokens import count_tokens


def present_preferences(preferences: Preferences) -> JSONObject:
    return {
        "instructions": preferences.instructions,
        "uses_instructions": preferences.uses_instructions,
        "instruction_tokens": count_tokens(preferences.instructions),
        "models": preferences.models,
    }
