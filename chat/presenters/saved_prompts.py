"""Saved prompts as clients see them."""

from uuid import UUID

from chat.models import SavedPrompt
from chat.presenters.json_values import JSONObject
from chat.protocol.answer import Answer
from chat.protocol.member_types import Moment


class SavedPromptAnswer(Answer):
    id: UUID
    name: str
    text: str
    created_at: Moment
    updated_at: Moment


def present_saved_prompt(prompt: SavedPrompt) -> JSONObject:
    return SavedPromptAnswer.from_row(prompt).json()
