"""Serializer fields that accept a JSON value of the right type and never convert: "true" is not a boolean.

A field whose rules exceed the attributes of Django REST framework describes them in `json_schema`, for the OpenAPI
document (openapi.py).
"""

import re
from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from rest_framework import serializers

from chat.models.mcp_server import McpServer
from chat.presenters.tools import choosable_tools
from chat.protocol import mcp_names as names
from chat.protocol.errors import REFUSALS
from chat.protocol.strict_json import UNSTORABLE_PATTERN
from chat.turns.request import (
    MAX_KNOWLEDGE_BASES,
    MAX_MODELS,
    are_models,
    has_visible_text,
    invisible_text_pattern,
)

_ID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
TOOLS: Final = sorted(choosable_tools())
# Keywords of JSON Schema.
STORABLE: Final = {"not": {"pattern": UNSTORABLE_PATTERN}}
MESSAGES: Final[dict[str, Any]] = {code: message for code, (_, message) in REFUSALS.items()}


def parse_id(text: object) -> UUID | None:
    """Parse a UUID in its canonical spelling; return None for all others, although uuid.UUID accepts some."""
    return UUID(text) if isinstance(text, str) and _ID.fullmatch(text) else None


# The most groups, and the most people, with whom an agent may be shared.
MAX_GROUPS: Final = 50
MAX_QUESTIONS: Final = 4

MAX_USER_NAME: Final = 150


class DescribedField(serializers.Field[Any, Any, Any, Any]):
    """A field whose rules drf-spectacular does not know."""

    def json_schema(self) -> dict[str, Any]:
        """Return the keywords of JSON Schema for these rules."""
        raise NotImplementedError


class StrictSerializer(serializers.Serializer[Any]):
    """A serializer of a JSON object; unknown fields are errors."""

    # Rules of `validate` beyond the fields, in JSON Schema.
    also: Mapping[str, Any] = {}
    # Whether a request without a body is invalid although no field is required.
    needs_body = False
    # Whether a PATCH also needs every required field. drf-spectacular treats a PATCH as a partial change.
    never_partial = False

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, Mapping):
            raise serializers.ValidationError(MESSAGES["invalid_type"], "invalid_type")
        for name in data:
            if name not in self.fields:
                detail = serializers.ErrorDetail(MESSAGES["unknown_field"], "unknown_field")
                raise serializers.ValidationError({str(name)[:100]: [detail]})
        return super().to_internal_value(data)


class StrictCharField(serializers.CharField, DescribedField):
    """A string, stored as sent, without trimming. The empty string is valid."""

    default_error_messages = MESSAGES

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"allow_blank": True, "trim_whitespace": False, **kwargs})

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid_type")
        return super().to_internal_value(data)

    def json_schema(self) -> dict[str, Any]:
        return {**STORABLE} if self.allow_blank else {**STORABLE, "minLength": 1}


class VisibleCharField(StrictCharField):
    """A string with visible text. code: the error code of a string without any."""

    def __init__(self, *, code: str = "invalid_value", **kwargs: Any) -> None:
        self._code = code
        super().__init__(**kwargs)

    def run_validation(self, data: Any = serializers.empty) -> Any:
        text = super().run_validation(data)
        if isinstance(text, str) and not has_visible_text(text):
            self.fail(self._code)
        return text

    def json_schema(self) -> dict[str, Any]:
        invisible = ({"pattern": pattern} for pattern in (UNSTORABLE_PATTERN, invisible_text_pattern()))
        return {"not": {"anyOf": [*invisible]}}


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
        # JSON has one number type: 1.0 is an integer.
        if isinstance(data, float) and data.is_integer():
            return int(data)
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


class UniqueListField(serializers.ListField, DescribedField):
    """A list of at most `most` values; a repeated value counts once."""

    default_error_messages = MESSAGES
    most: int

    def to_internal_value(self, data: Any) -> list[Any]:
        values: list[Any] = super().to_internal_value(data)
        if len(values) > self.most:
            self.fail("invalid_value")
        return list(dict.fromkeys(values))

    def json_schema(self) -> dict[str, Any]:
        return {"maxItems": self.most}


class KnowledgeBasesField(UniqueListField):
    """Ids of knowledge bases. Whether the user is a member is checked when they are used."""

    child = StrictUUIDField()
    most = MAX_KNOWLEDGE_BASES


class GroupsField(UniqueListField):
    """Ids of groups. Whether the user may share with them is checked when they are used."""

    child = StrictIntegerField(min_value=1, max_value=2**31 - 1)
    most = MAX_GROUPS


class StringsField(serializers.ListField, DescribedField):
    """A list of strings, each as `child` accepts it."""

    def json_schema(self) -> dict[str, Any]:
        child: Any = self.child
        return {"items": {"type": "string", "maxLength": child.max_length, **child.json_schema()}}


class UserNamesField(UniqueListField, StringsField):
    """Names of users. Whether the users exist is checked when they are used."""

    child = VisibleCharField(max_length=MAX_USER_NAME)
    most = MAX_GROUPS

    def json_schema(self) -> dict[str, Any]:
        return StringsField.json_schema(self) | super().json_schema()


class QuestionsField(StringsField):
    """The questions that a new chat with an agent suggests."""

    default_error_messages = MESSAGES
    child = VisibleCharField(max_length=200)

    def to_internal_value(self, data: Any) -> list[str]:
        questions: list[str] = super().to_internal_value(data)
        if len(questions) > MAX_QUESTIONS:
            self.fail("invalid_value")
        return questions

    def json_schema(self) -> dict[str, Any]:
        return {**super().json_schema(), "maxItems": MAX_QUESTIONS}


class ModelNamesField(serializers.ListField, DescribedField):
    """Distinct names of models, at most as many as may answer together.
    Whether they exist is checked when they are used.
    """

    default_error_messages = MESSAGES
    child = StrictCharField(max_length=200)

    def __init__(self, *, least: int = 0, **kwargs: Any) -> None:
        self._least = least
        super().__init__(**kwargs)

    def validate_empty_values(self, data: Any) -> tuple[bool, Any]:
        if data is None:
            self.fail("models_invalid")
        return super().validate_empty_values(data)

    def to_internal_value(self, data: Any) -> list[str]:
        names: list[str] = super().to_internal_value(data)
        if not are_models(names) or len(names) < self._least:
            self.fail("models_invalid")
        return names

    def json_schema(self) -> dict[str, Any]:
        names = {"type": "string", "maxLength": self.child.max_length, **STORABLE}
        return {"items": names, "minItems": self._least, "maxItems": MAX_MODELS, "uniqueItems": True}


# One of our tools, or one of an MCP server; a choice may also be all tools of a server.
TOOL_SCHEMA: Final[dict[str, Any]] = {
    "anyOf": [{"enum": TOOLS}, {"pattern": names.CHOICE, "maxLength": names.MAX_TOOL_NAME}]
}


class ToolNameField(StrictCharField):
    """The name of a tool. Whether the chat has the tool is checked when it is used."""

    def to_internal_value(self, data: Any) -> str:
        name = super().to_internal_value(data)
        if name not in TOOLS and not names.is_server_tool(name):
            self.fail("tool_unknown")
        return name

    def json_schema(self) -> dict[str, Any]:
        return TOOL_SCHEMA


class ToolNamesField(serializers.ListField, DescribedField):
    """Names of tools; a repeated name counts once.
    Any tool of an existing server may be named, since the tools that a server lists change.
    """

    default_error_messages = MESSAGES
    child = StrictCharField()

    def to_internal_value(self, data: Any) -> list[str]:
        chosen = list(dict.fromkeys(super().to_internal_value(data)))
        others = set(chosen).difference(TOOLS)
        servers = {names.server_of(name) for name in others}
        if not all(map(names.is_server_tool, others)) or not McpServer.objects.all_exist(servers):
            self.fail("tool_unknown")
        return chosen

    def json_schema(self) -> dict[str, Any]:
        return {"items": {"type": "string", **TOOL_SCHEMA}}
