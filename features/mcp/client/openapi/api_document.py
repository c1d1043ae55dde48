"""ApiDocument: an OpenAPI document, 3.0 and later, with its local references and its schemas, within bounds. Pure.

Anybody may have written the document: it is bounded wherever it is read.

A schema that contains itself is described once, and named where it recurs: the APIs of models accept no references.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import yaml
from referencing import Registry, Resource
from referencing.exceptions import Unresolvable

from features.mcp.client.tool_schemas import current_form

MAX_DOCUMENT_BYTES: Final = 4 * 1024 * 1024
# The C parser ends the process by a stack overflow at some 10,000.
_MAX_NESTING: Final = 100
# Members that mappings take over from others (`<<`), which can double with each line.
_MAX_MERGED: Final = 200_000
_MAX_HOPS: Final = 10
_MALFORMED: Final = (yaml.YAMLError, ValueError, TypeError, AttributeError, RecursionError, OverflowError)


class DocumentRefused(Exception):
    """The document cannot be used. The message is one sentence, for staff."""


class ApiDocument:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self.root = root
        registry: Registry[Any] = Registry().with_resource("", Resource.opaque(root))
        self._resolver = registry.resolver()
        self._named: dict[str, Any] = {}

    def resolve(self, reference: str) -> Any:
        """Return the target of a reference; None: there is none, or it is outside of the document."""
        if reference not in self._named:
            self._named[reference] = self._look_up(reference)
        return self._named[reference]

    def read(self, value: Any) -> Mapping[str, Any]:
        """Return the object, or the object that it refers to; empty if there is none."""
        for _ in range(_MAX_HOPS):
            reference = value.get("$ref") if isinstance(value, dict) else None
            if not isinstance(reference, str):
                break
            value = self.resolve(reference)
        return value if isinstance(value, dict) else {}

    def _look_up(self, reference: str) -> Any:
        if not reference.startswith("#"):
            return None
        try:
            return self._resolver.lookup(reference).contents
        except (Unresolvable, ValueError, TypeError, LookupError):
            return None


def read_document(content: bytes | str) -> ApiDocument:
    """Parse an OpenAPI document. Raises DocumentRefused."""
    try:
        text = content if isinstance(content, str) else content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DocumentRefused("The document is not UTF-8.") from None
    root = _parse(text)
    if isinstance(root, dict) and "swagger" in root:
        version = str(root["swagger"])[:10]
        raise DocumentRefused(f"The document is of Swagger {version}; OpenAPI 3.0 or later is needed.")
    if not (isinstance(root, dict) and str(root.get("openapi", "")).startswith("3.")):
        raise DocumentRefused("This is no OpenAPI document of version 3.")
    return ApiDocument(root)


def _parse(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        _check_nesting(text)
        return yaml.load(text, Loader=_Loader)  # noqa: S506  a subclass of the safe one
    except DocumentRefused:
        raise
    except _MALFORMED as error:
        mark = getattr(error, "problem_mark", None)
        place = f" (line {mark.line + 1})" if mark else ""
        raise DocumentRefused(f"The document is neither JSON nor YAML{place}.") from None


def _check_nesting(text: str) -> None:
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _MAX_NESTING:
            raise DocumentRefused("The document is nested too deep.")


class _Loader(yaml.CSafeLoader):
    """Reads the core schema of YAML 1.2, in which `no` and `2026-01-01` are texts."""

    yaml_implicit_resolvers: dict[str, Any] = {}
    _merged = 0

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        super().flatten_mapping(node)
        self._merged += len(node.value)
        if self._merged > _MAX_MERGED:
            raise DocumentRefused("The document is too large.")


for _tag, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", list("-+0123456789")),
    ("float", r"[-+]?(?:[0-9]+\.[0-9]*|\.?[0-9]+)(?:[eE][-+]?[0-9]+)?", list("-+.0123456789")),
    ("merge", "<<", ["<"]),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"^(?:{_pattern})$"), _first)


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
