"""The member `options` of requests: the options of a turn, or of every turn of a session or an agent.

A member that is null means the model's own value, whatever the session or its agent says.
"""

import json
from typing import Annotated, Any, Final

from msgspec import UNSET, Meta, UnsetType

from chat.protocol.errors import ApiError
from chat.protocol.member_types import choice
from chat.transcript.run_options import (
    MAX_SCHEMA_CHARACTERS,
    MAX_STOP_CHARACTERS,
    MAX_STOPS,
    MOST_TEMPERATURE,
    REASONING_EFFORTS,
    RESPONSE_FORMATS,
)
from web.schema.body import Body, rule
from web.schema.members import Text

MOST_SEED: Final = 2**63 - 1
MOST_OUTPUT_TOKENS: Final = 2**31 - 1
_NAME: Final = r"^[a-zA-Z0-9_-]{1,64}$"


def _schema_text(schema: dict[str, Any]) -> str:
    """Return a JSON Schema as it is stored: as text. The model server validates its content."""
    text = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
    if len(text) > MAX_SCHEMA_CHARACTERS:
        raise ApiError("invalid_value", f"At most {MAX_SCHEMA_CHARACTERS} characters.")
    return text


class NamedSchema(Body, kw_only=True):
    name: Annotated[str, Meta(pattern=_NAME)]
    description: Annotated[str, Meta(max_length=1000)] | UnsetType = UNSET
    strict: bool | UnsetType | None = UNSET
    schema: Annotated[
        dict[str, Any], rule(_schema_text), Meta(description=f"At most {MAX_SCHEMA_CHARACTERS} characters.")
    ]


class ResponseFormat(Body):
    """The format of answers. `json_schema` is required with the type of this name, and refused with any other."""

    keywords = {
        "if": {"properties": {"type": {"enum": ["json_schema"]}}},
        "then": {"required": ["json_schema"]},
        "else": {"properties": {"json_schema": False}},
    }

    type: Annotated[str, choice(RESPONSE_FORMATS)]
    json_schema: NamedSchema | UnsetType = UNSET

    def __post_init__(self) -> None:
        if (self.type == "json_schema") != bool(self.json_schema):
            raise ApiError("unknown_field" if self.json_schema else "field_required", field="json_schema")


# No stop text counts as no value.
_Stop = Annotated[
    list[Annotated[Text, Meta(max_length=MAX_STOP_CHARACTERS)]],
    Meta(max_length=MAX_STOPS),
    rule(lambda texts: texts or None),
]


class OptionsBody(Body):
    temperature: Annotated[float, Meta(ge=0, le=MOST_TEMPERATURE)] | UnsetType | None = UNSET
    top_p: Annotated[float, Meta(ge=0, le=1)] | UnsetType | None = UNSET
    max_output_tokens: Annotated[int, Meta(ge=1, le=MOST_OUTPUT_TOKENS)] | UnsetType | None = UNSET
    stop: _Stop | UnsetType | None = UNSET
    seed: Annotated[int, Meta(ge=-MOST_SEED - 1, le=MOST_SEED)] | UnsetType | None = UNSET
    reasoning_effort: Annotated[str, choice(REASONING_EFFORTS)] | UnsetType | None = UNSET
    response_format: ResponseFormat | UnsetType | None = UNSET
    parallel_tool_calls: bool | UnsetType | None = UNSET
