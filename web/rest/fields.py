"""Fields that take a value as it is or refuse it: 123 is not a text, "true" is not a boolean."""

import re
from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from rest_framework import serializers

from chat.protocol.errors import REFUSALS

_ID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
MESSAGES: Final[dict[str, Any]] = {code: message for code, (_, message) in REFUSALS.items()}


def parse_id(text: object) -> UUID | None:
    """The one spelling that is an id; None for everything else uuid.UUID would take."""
    return UUID(text) if isinstance(text, str) and _ID.fullmatch(text) else None


class StrictSerializer(serializers.Serializer[Any]):
    """A JSON object in which every field is known."""

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, Mapping):
            raise serializers.ValidationError(MESSAGES["invalid_type"], "invalid_type")
        for name in data:
            if name not in self.fields:
                detail = serializers.ErrorDetail(MESSAGES["unknown_field"], "unknown_field")
                raise serializers.ValidationError({str(name)[:100]: [detail]})
        return super().to_internal_value(data)


class Text(serializers.CharField):
    """Text, kept as it was sent. Empty is a text."""

    default_error_messages = MESSAGES

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"allow_blank": True, "trim_whitespace": False, **kwargs})

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid_type")
        return super().to_internal_value(data)


class Choice(serializers.ChoiceField):
    default_error_messages = MESSAGES

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, str):
            self.fail("invalid_type")
        return super().to_internal_value(data)


class Boolean(serializers.BooleanField):
    default_error_messages = MESSAGES

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid_type")
        return data


class Number(serializers.IntegerField):
    default_error_messages = MESSAGES

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, bool) or not isinstance(data, int):
            self.fail("invalid_type")
        return data


class Id(serializers.UUIDField):
    default_error_messages = MESSAGES

    def to_internal_value(self, data: Any) -> UUID:
        if not isinstance(data, str):
            self.fail("invalid_type")
        found = parse_id(data)
        if found is None:
            self.fail("invalid_id")
        return found


class ModelNames(serializers.ListField):
    """One to four names; which of them exist is decided when the turn starts."""

    default_error_messages = MESSAGES
    child = Text(max_length=200)

    def validate_empty_values(self, data: Any) -> tuple[bool, Any]:
        if data is None:
            self.fail("models_invalid")
        return super().validate_empty_values(data)
