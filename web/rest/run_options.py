"""The member `options` of requests: the options of a turn, or of every turn of a session or an agent.

A member that is null means the model's own value, whatever the session or its agent says.
"""

import json
from typing import Any, Final

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail

from chat.transcript.run_options import (
    MAX_SCHEMA_CHARACTERS,
    MAX_STOP_CHARACTERS,
    MAX_STOPS,
    MOST_TEMPERATURE,
    REASONING_EFFORTS,
    RESPONSE_FORMATS,
)
from web.rest.fields import (
    MESSAGES,
    DescribedField,
    StrictBooleanField,
    StrictCharField,
    StrictChoiceField,
    StrictIntegerField,
    StrictSerializer,
    StringsField,
)

MOST_SEED: Final = 2**63 - 1
MOST_OUTPUT_TOKENS: Final = 2**31 - 1
_NAME: Final = r"^[a-zA-Z0-9_-]{1,64}$"


@extend_schema_field(OpenApiTypes.NUMBER)
class NumberField(DescribedField):
    """A number between 0 and `most`, stored as sent."""

    default_error_messages = MESSAGES

    def __init__(self, *, most: int, **kwargs: Any) -> None:
        self._most = most
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> float:
        if isinstance(data, bool) or not isinstance(data, int | float):
            self.fail("invalid_type")
        if not 0 <= data <= self._most:
            self.fail("invalid_value")
        return float(data)

    def json_schema(self) -> dict[str, Any]:
        return {"type": ["number", "null"], "minimum": 0, "maximum": self._most}


class StopField(StringsField):
    default_error_messages = MESSAGES
    child = StrictCharField(max_length=MAX_STOP_CHARACTERS, allow_blank=False)

    def to_internal_value(self, data: Any) -> list[str]:
        texts: list[str] = super().to_internal_value(data)
        if len(texts) > MAX_STOPS:
            self.fail("invalid_value")
        return texts

    def json_schema(self) -> dict[str, Any]:
        return {**super().json_schema(), "maxItems": MAX_STOPS}


@extend_schema_field(OpenApiTypes.OBJECT)
class SchemaField(DescribedField):
    """A JSON Schema, stored as text. The model server validates its content."""

    default_error_messages = MESSAGES

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, dict):
            self.fail("invalid_type")
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        if len(text) > MAX_SCHEMA_CHARACTERS:
            self.fail("invalid_value")
        return text

    def json_schema(self) -> dict[str, Any]:
        return {
            "type": "object",
            "additionalProperties": True,
            "description": f"At most {MAX_SCHEMA_CHARACTERS} characters.",
        }


class WholeObject(StrictSerializer):
    """An object that is replaced as a whole: its required members are required in a partial change too."""

    def to_internal_value(self, data: Any) -> Any:
        values = super().to_internal_value(data)
        for name, field in self.fields.items():
            if field.required and name not in values:
                raise serializers.ValidationError(
                    {name: [ErrorDetail(MESSAGES["field_required"], "field_required")]}
                )
        return values


class NamedSchema(WholeObject):
    name = serializers.RegexField(_NAME)
    description = StrictCharField(max_length=1000, required=False)
    strict = StrictBooleanField(required=False, allow_null=True)
    schema = SchemaField()


class ResponseFormat(WholeObject):
    """The format of answers. `json_schema` is required with the type of this name, and refused with any other."""

    also = {
        "if": {"properties": {"type": {"enum": ["json_schema"]}}},
        "then": {"required": ["json_schema"]},
        "else": {"properties": {"json_schema": False}},
    }

    type = StrictChoiceField(choices=RESPONSE_FORMATS)
    json_schema = NamedSchema(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if (attrs["type"] == "json_schema") != ("json_schema" in attrs):
            code = "unknown_field" if "json_schema" in attrs else "field_required"
            raise serializers.ValidationError({"json_schema": [ErrorDetail(MESSAGES[code], code)]})
        return attrs


class OptionsBody(StrictSerializer):
    temperature = NumberField(most=MOST_TEMPERATURE, required=False, allow_null=True)
    top_p = NumberField(most=1, required=False, allow_null=True)
    max_output_tokens = StrictIntegerField(
        min_value=1, max_value=MOST_OUTPUT_TOKENS, required=False, allow_null=True
    )
    stop = StopField(required=False, allow_null=True)
    seed = StrictIntegerField(min_value=-MOST_SEED - 1, max_value=MOST_SEED, required=False, allow_null=True)
    reasoning_effort = StrictChoiceField(choices=REASONING_EFFORTS, required=False, allow_null=True)
    response_format = ResponseFormat(required=False, allow_null=True)
    parallel_tool_calls = StrictBooleanField(required=False, allow_null=True)

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        given: dict[str, Any] = super().to_internal_value(data)
        # An empty list of stops counts as no value.
        return {name: None if value == [] else _plain(value) for name, value in given.items()}


def _plain(value: Any) -> Any:
    """Return the value with plain dicts instead of the class of validated objects, which is not a JSON type."""
    return {name: _plain(one) for name, one in value.items()} if isinstance(value, dict) else value
