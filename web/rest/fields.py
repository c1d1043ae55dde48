"""Serializer fields that accept a JSON value of the right type and never convert: "true" is not a boolean."""

import re
from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from rest_framework import serializers

from chat.protocol.errors import REFUSALS

_ID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
MESSAGES: Final[dict[str, Any]] = {code: message for code, (_, message) in REFUSALS.items()}


def parse_id(text: object) -> UUID | None:
    """Parse a UUID in its canonical spelling; return None for all others, although uuid.UUID accepts some."""
    return UUID(text) if isinstance(text, str) and _ID.fullmatch(text) else None


class StrictSerializer(serializers.Serializer[Any]):
    """Validates a JSON object; unknown fields are errors."""

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, Mapping):
            raise serializers.ValidationError(MESSAGES["invalid_type"], "invalid_type")
        for name in data:
            if name not in self.fields:
                detail = serializers.ErrorDetail(MESSAGES["unknown_field"], "unknown_field")
                raise serializers.ValidationError({str(name)[:100]: [detail]})
        return super().to_internal_value(data)


class StrictCharField(serializers.CharField):
    """A string, stored as sent, without trimming. The empty string is valid."""

    default_error_messages = MESSAGES

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"allow_blank": True, "trim_whitespace": False, **kwargs})

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid_type")
        return super().to_internal_value(data)


class StrictChoiceField(serializers.ChoiceField):
    default_error_messages = MESSAGES

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, str):
            self.fail("invalid_type")
        return super().to_internal_value(data)


class StrictBooleanField(serializers.BooleanField):
    default_error_messages = MESSAGES

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid_type")
        return data


class StrictIntegerField(serializers.IntegerField):
    default_error_messages = MESSAGES

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, bool) or not isinstance(data, int):
            self.fail("invalid_type")
        return data


class StrictUUIDField(serializers.UUIDField):
    default_error_messages = MESSAGES

    def to_internal_value(self, data: Any) -> UUID:
        if not isinstance(data, str):
            self.fail("invalid_type")
        parsed = parse_id(data)
        if parsed is None:
            self.fail("invalid_id")
        return parsed


class ModelNamesField(serializers.ListField):
    """A list of model names. Their number, and whether they exist, is checked when they are used."""

    default_error_messages = MESSAGES
    child = StrictCharField(max_length=200)

    def validate_empty_values(self, data: Any) -> tuple[bool, Any]:
        if data is None:
            self.fail("models_invalid")
        return super().validate_empty_values(data)
