"""Saved prompts as clients see them."""

from chat.models import SavedPrompt
from chat.presenters.json_values import JSONObject, isoformat_utc


def present_saved_prompt(prompt: SavedPrompt) -> JSONObject:
    return {
        "id": str(prompt.pk),
        "name": prompt.name,
        "text": prompt.text,
        "created_at": isoformat_utc(prompt.created_at),
        "updated_at": isoformat_utc(prompt.updated_at),
    }
