"""Statements about the models that users are offered, and the base prompt. Plan: the tables are read whole; they have few
rows."""

from typing import Final, NamedTuple

from chat.models.sql.rows import MODEL_CONFIG, ModelConfigRow
from chat.models.sql.statements import Statement


class EditedPrompt(NamedTuple):
    text: str


# A condition on a row of chat_modelconfig: ModelConfigQuerySet.usable() is the same.
IS_OFFERED: Final = """
    enabled AND (provider_id IS NULL OR provider_id IN (SELECT id FROM chat_provider WHERE is_enabled))
"""
_OFFERED = f"SELECT {MODEL_CONFIG} FROM chat_modelconfig AS model WHERE {IS_OFFERED}"  # noqa: S608
# Parameters: names.
OFFERED_NAMED: Final = Statement(f"{_OFFERED} AND name = ANY(%(names)s)", ModelConfigRow)
EDITED_PROMPT: Final = Statement("SELECT text FROM chat_systemprompt", EditedPrompt)
