"""Reads the schemas of an OpenAPI document as JSON Schema for models: without references, and within bounds. Pure.

A schema that contains itself is described once, and named where it recurs: the APIs of models accept no references.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from features.mcp.client.openapi.api_document import ApiDocument
from features.mcp.client.tool_schemas import current_form

_MAX_DESCRIPTION: Final = 500
# On the way to one schema, over all levels.
_MAX_REFERENCES: Final = 50
# Characters that a value takes beside its text, as JSON.
_OVERHEAD: Final = 6
_NUMBERS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_COUNTS: Final = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
_COPIED: Final = frozenset(
    {"format", "default", "enum", "const", "pattern", "uniqueItems", *_NUMBERS, *_COUNTS}
)
_ALTERNATIVES: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_NESTED: Final = frozenset({"items", "additionalProperties", "not"})


class SchemaTooLarge(Exception):
    """The schema exceeds a bound, and has to be read again, less deep."""


class SchemaReader:
    """Reads schemas. depth: of the nested schemas that are described.  budget: in characters, of all that is read."""

    def __init__(self, document: ApiDocument, depth: int, budget: int) -> None:
        self._document = document
        self._depth = depth
        self._budget = budget

    def read(self, schema: Any) -> dict[str, Any]:
        """Read a schema. Raises SchemaTooLarge."""
        return self._read(schema, 0, ())

    def _read(self, schema: Any, depth: int, opened: tuple[str, ...]) -> dict[str, Any]:
        self._spend(_OVERHEAD)
        if not isinstance(schema, dict):
            return {"not": {}} if schema is False else {}
        reference = schema.get("$ref")
        if isinstance(reference, str):
            target = self._document.resolve(reference)
            beside = {name: value for name, value in schema.items() if name != "$ref"}
            merged = {**target, **beside} if isinstance(target, dict) else beside
            if reference in opened:
                return self._name(merged, reference)
            if len(opened) == _MAX_REFERENCES:
                raise SchemaTooLarge
            return self._read(merged, depth, (*opened, reference))
        read = self._read_members(schema, depth, opened) if depth <= self._depth else self._describe(schema)
        return current_form(read)

    def _read_members(self, schema: Mapping[str, Any], depth: int, opened: tuple[str, ...]) -> dict[str, Any]:
        read = self._describe(schema)

        def nested(value: Any) -> dict[str, Any]:
            return self._read(value, depth + 1, opened)

        for name, value in schema.items():
            if name in _COPIED:
                read[name] = self._copy(value, self._depth)
            elif name in _ALTERNATIVES and isinstance(value, list):
                read[name] = [nested(one) for one in value]
            elif name in _NESTED:
                read[name] = value if isinstance(value, bool) else nested(value)
        if isinstance(schema.get("properties"), dict):
            read |= self._read_properties(schema, nested)
        return read

    def _read_properties(
        self, schema: Mapping[str, Any], nested: Callable[[Any], dict[str, Any]]
    ) -> dict[str, Any]:
        """Read the properties, without those that only answers have."""
        properties = {}
        for name, value in schema["properties"].items():
            if isinstance(name, str) and self._document.read(value).get("readOnly") is not True:
                self._spend(len(name))
                properties[name] = nested(value)
        required = [name for name in _texts(schema.get("required")) if name in properties]
        return {"properties": properties, **({"required": required} if required else {})}

    def _describe(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Return the type and the description of a schema, without the nested schemas."""
        read: dict[str, Any] = {}
        kind = schema.get("type")
        kinds = [kind] if isinstance(kind, str) else _texts(kind)
        if kinds:
            read["type"] = kinds
        if schema.get("nullable") is True:
            read["nullable"] = True
        if isinstance(schema.get("description"), str):
            read["description"] = schema["description"][:_MAX_DESCRIPTION]
            self._spend(len(read["description"]))
        return read

    def _name(self, target: Mapping[str, Any], reference: str) -> dict[str, Any]:
        name = reference.rpartition("/")[2][:100]
        read = {member: target[member] for member in ("type", "nullable") if member in target}
        return current_form({**read, "description": f"Another {name}, as above."})

    def _copy(self, value: Any, depth: int) -> Any:
        """Copy JSON that is no schema."""
        if depth < 0:
            raise SchemaTooLarge
        self._spend(_OVERHEAD + (len(value) if isinstance(value, str) else 0))
        if isinstance(value, dict):
            return {str(name): self._copy(one, depth - 1) for name, one in value.items()}
        if isinstance(value, list):
            return [self._copy(one, depth - 1) for one in value]
        return value

    def _spend(self, characters: int) -> None:
        self._budget -= characters
        if self._budget < 0:
            raise SchemaTooLarge


def _texts(value: Any) -> list[str]:
    """Return the value if it is a list of texts, else an empty list."""
    is_one = isinstance(value, list) and all(isinstance(one, str) for one in value)
    return value if is_one else []
