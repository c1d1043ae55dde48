"""Statements about the models that users are offered, and the prompts that stand in all chats.

Plan: the tables are read whole; they have few rows.
"""

from typing import Final, NamedTuple

from chat.models.sql.rows import MODEL_CONFIG, ModelConfigRow
from chat.models.sql.statements import Statement


class EditedPrompt(NamedTuple):
    text: str


class StandingPrompts(NamedTuple):
    """edited: the base prompt, None if staff never edited it.  instructions: of one user for all of their chats."""

    edited: str | None
    instructions: str


# A condition on a row of chat_modelconfig: ModelConfigQuerySet.usable() is the same.
IS_OFFERED: Final = """
    enabled AND (provider_id IS NULL OR provider_id IN (SELECT id FROM chat_provider WHERE is_enabled))
"""
_OFFERED = f"SELECT {MODEL_CONFIG} FROM chat_modelconfig AS model WHERE {IS_OFFERED}"  # noqa: S608
# Parameters: names.
OFFERED_NAMED: Final = Statement(f"{_OFFERED} AND name = ANY(%(names)s)", ModelConfigRow)
EDITED_PROMPT: Final = Statement("SELECT text FROM chat_systemprompt", EditedPrompt)
# Parameters: owner (a user). One row. Plan: primary key of chat_preferences.
STANDING_PROMPTS: Final = Statement(
    """
    SELECT (SELECT text FROM chat_systemprompt), COALESCE((
        SELECT instructions FROM chat_preferences WHERE user_id = %(owner)s AND uses_instructions
    ), '')
    """,
    StandingPrompts,
)
