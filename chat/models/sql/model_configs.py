"""Statements about the models that users are offered, and the base prompt. Plan: both tables are read whole; they have a
handful of rows."""

from typing import Final, NamedTuple

from chat.models.sql.rows import MODEL_CONFIG, ModelConfigRow
from chat.models.sql.statements import Statement


class EditedPrompt(NamedTuple):
    text: str


_OFFERED = f"SELECT {MODEL_CONFIG} FROM chat_modelconfig AS model WHERE enabled"  # noqa: S608
# Parameters: names.
OFFERED_NAMED: Final = Statement(f"{_OFFERED} AND name = ANY(%(names)s)", ModelConfigRow)
EDITED_PROMPT: Final = Statement("SELECT text FROM chat_systemprompt", EditedPrompt)
