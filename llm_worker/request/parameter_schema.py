"""Rewrites the schemas of tools for model servers, which refuse a request for one schema that they do not accept. Pure.

OpenAI, Azure and LM Studio demand an object with `properties` and without combinations at the top, and `items` in each
array; OpenAI, Anthropic and Bedrock demand names of properties of their alphabet, so others are respelled, and spelled
back in calls. What is sent may allow more than the schema of the tool, against which calls are validated.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any, Final

from chat.protocol.server_tool_names import MAX_TOOL_NAME, with_digest

Schema = Mapping[str, Any]

# Deeper schemas are sent as they are.
_MAX_DEPTH: Final = 32
# Of combinations inside of combinations at the top.
_MAX_COMBINATIONS: Final = 4
_MAX_SCHEMAS: Final = 1_000
_MAX_DESCRIPTION: Final = 500
_REFUSED_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_.-]")
# Keywords whose value is a schema, a list of schemas, or schemas by name.
SCHEMAS: Final = frozenset({"items", "additionalProperties", "contains", "not", "if", "then", "else", "propertyNames"})  # fmt: skip
LISTS: Final = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
NAMED: Final = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_CHOICES: Final = ("anyOf", "oneOf")
_REFUSED_AT_THE_TOP: Final = (*_CHOICES, "allOf", "$ref", "not", "enum")
_LEFT_OUT: Final = [["#", keyword] for keyword in _REFUSED_AT_THE_TOP]


def accepted_schema(parameters: Schema) -> dict[str, Any]:
    """Return the schema of a tool's arguments as model servers accept it."""
    top = _without_combinations(parameters)
    whole = {**top, "type": "object", "properties": _mapping(top.get("properties"))}
    return dict(_adapted(whole, _MAX_DEPTH))


def own_arguments(arguments: Schema, parameters: Schema) -> dict[str, Any]:
    """Return the arguments of a call with the names that the tool's own schema has."""
    top = _without_combinations(parameters)
    return dict(_with_own_names(arguments, [top], top, _MAX_DEPTH))


def _without_combinations(parameters: Schema) -> dict[str, Any]:
    """Return the schema without combinations at the top, unless a reference leads to one."""
    top = _Combinations(parameters).flat(parameters)
    return dict(parameters) if _points_into_combinations(top) else top


def _with_own_names(value: Any, schemas: Iterable[Any], root: Schema, depth: int) -> Any:
    """Return a value with its own names. schemas: those that hold or may hold for it."""
    if not isinstance(value, list | Mapping) or not depth:
        return value
    applied = _applied(schemas, root)
    if isinstance(value, list):
        return [
            _with_own_names(each, [_item_of(schema, at) for schema in applied], root, depth - 1)
            for at, each in enumerate(value)
        ]
    properties = [_mapping(schema.get("properties")) for schema in applied]
    known = {name for each in properties for name in each}
    own = {sent: name for each in properties for name, sent in _respelled(each).items() if sent not in known}
    return {
        own.get(name, name): _with_own_names(
            inner, [_member_of(schema, own.get(name, name)) for schema in applied], root, depth - 1
        )
        for name, inner in value.items()
    }


def _applied(schemas: Iterable[Any], root: Schema) -> list[Schema]:
    """Return the schemas with those that they refer to or combine, each once."""
    left, applied = [schema for schema in schemas if isinstance(schema, Mapping)], dict[int, Schema]()
    while left and len(applied) < _MAX_SCHEMAS:
        schema = left.pop()
        if id(schema) in applied:
            continue
        applied[id(schema)] = schema
        for keyword in (*_CHOICES, "allOf"):
            left += _objects(schema.get(keyword))
        left += _objects([schema.get("then"), schema.get("else")])
        if isinstance(reference := schema.get("$ref"), str):
            left.append(_target(reference, root))
    return list(applied.values())


def _item_of(schema: Schema, at: int) -> Any:
    first = schema.get("prefixItems")
    return first[at] if isinstance(first, list) and at < len(first) else schema.get("items")


def _member_of(schema: Schema, name: Any) -> Any:
    properties = _mapping(schema.get("properties"))
    return properties[name] if name in properties else schema.get("additionalProperties")


def _respelled(names: Iterable[str]) -> dict[str, str]:
    """Return the names that are sent for those that servers refuse. Where several would be spelled alike, or nothing
    is left of one, a digest of its own name ends it.
    """
    own = list(names)
    spelled = {name: _REFUSED_IN_NAMES.sub("_", name)[:MAX_TOOL_NAME] or "_" for name in own}
    alike = Counter(spelled.values())
    return {
        name: sent
        if alike[sent] == 1 and sent.strip("_")
        else with_digest(sent.strip("_") or "argument", name)
        for name, sent in spelled.items()
        if sent != name
    }


def _with_respelled_names(schema: Schema) -> dict[str, Any]:
    """Return the changed keywords of a schema with names of properties that servers refuse; empty if it has none."""
    properties = _mapping(schema.get("properties"))
    sent = _respelled(properties)
    if not sent:
        return {}
    required = [sent.get(name, name) for name in _names(schema)]
    named = {
        sent.get(name, name): _described_as(name, inner) if name in sent else inner
        for name, inner in properties.items()
    }
    return {"properties": named, **({"required": required} if required else {})}


def _described_as(name: str, schema: Any) -> Any:
    """Return the schema of a property with its own name before its description."""
    described = _mapping(schema)
    return {**described, "description": f"{name}: {described.get('description') or ''}".rstrip(": ")}


def _adapted(schema: Any, depth: int) -> Any:
    """Return the schema with `items` in each array, and with names of properties that servers accept; schemas that need
    none of it are returned unchanged.
    """
    if not isinstance(schema, Mapping) or not depth:
        return schema
    changed: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword in SCHEMAS or keyword in LISTS or keyword in NAMED:
            written = _inside(keyword, value, depth - 1)
            if written is not value:
                changed[keyword] = written
    kind = schema.get("type")
    if "items" not in schema and (kind == "array" or (isinstance(kind, list) and "array" in kind)):
        changed["items"] = {}
    if respelled := _with_respelled_names({**schema, **changed}):
        changed |= respelled
    return {**schema, **changed} if changed else schema


def _inside(keyword: str, value: Any, depth: int) -> Any:
    if isinstance(value, list):
        written = [_adapted(each, depth) for each in value]
        return written if any(new is not old for new, old in zip(written, value, strict=True)) else value
    if keyword in NAMED and isinstance(value, Mapping):
        changed = {name: new for name, old in value.items() if (new := _adapted(old, depth)) is not old}
        return {**value, **changed} if changed else value
    return _adapted(value, depth)


def _points_into_combinations(schema: Any, depth: int = 2 * _MAX_DEPTH) -> bool:
    """Return whether a reference leads to what is left out at the top."""
    inside = list(schema.values()) if isinstance(schema, Mapping) else schema
    if not isinstance(inside, list) or not depth:
        return False
    if any(_points_into_combinations(each, depth - 1) for each in inside):
        return True
    if not isinstance(schema, Mapping):
        return False
    reference = schema.get("$ref")
    return isinstance(reference, str) and reference.split("/")[:2] in _LEFT_OUT


class _Combinations:
    """Takes the combinations of a schema apart, at most _MAX_SCHEMAS of them."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._left = _MAX_SCHEMAS

    def flat(self, schema: Schema, depth: int = _MAX_COMBINATIONS) -> dict[str, Any]:
        """Return the schema with the properties of what it combines, and without the combinations themselves."""
        own = {keyword: value for keyword, value in schema.items() if keyword not in _REFUSED_AT_THE_TOP}
        self._left -= 1
        if len(own) == len(schema) or not depth or self._left < 0:
            return own
        parts = [self.flat(part, depth - 1) for part in self._parts(schema)]
        for keyword in _CHOICES:
            choices = [self.flat(choice, depth - 1) for choice in _objects(schema.get(keyword))]
            parts += [_one_of(choices)] if choices else []
        return reduce(_both, parts, own)

    def _parts(self, schema: Schema) -> Iterator[Schema]:
        """Yield the schemas that all hold, besides the schema's own keywords."""
        yield from _objects(schema.get("allOf"))
        reference = schema.get("$ref")
        if isinstance(reference, str):
            yield _target(reference, self._root)


def _one_of(choices: Sequence[Schema]) -> dict[str, Any]:
    """Join schemas of objects of which one holds."""
    first, *others = choices
    joined = reduce(_either, others, dict(first))
    return {**joined, **_described(choices)}


def _described(choices: Sequence[Schema]) -> dict[str, str]:
    """Return a description of the arguments of which one set is required; empty if all choices require the same."""
    always = set(_names(choices[0])).intersection(*map(_names, choices))
    sets = dict.fromkeys(
        ", ".join(name for name in _names(choice) if name not in always) for choice in choices
    )
    if len(sets) < 2 or "" in sets:
        return {}
    return {"description": f"Required: {' or '.join(sets)}."[:_MAX_DESCRIPTION]}


def _both(one: Schema, other: Schema) -> dict[str, Any]:
    """Join two schemas of objects that both hold. Of a property in both, the first schema counts."""
    properties = {**_mapping(other.get("properties")), **_mapping(one.get("properties"))}
    required = list(dict.fromkeys([*_names(one), *_names(other)]))
    said = " ".join(str(schema["description"]) for schema in (one, other) if schema.get("description"))
    return _joined({**one, **({"description": said} if said else {})}, properties, required)


def _either(one: Schema, other: Schema) -> dict[str, Any]:
    """Join two schemas of objects of which one holds. A property that only one names is optional."""
    properties = dict(_mapping(one.get("properties")))
    for name, schema in _mapping(other.get("properties")).items():
        known = properties.get(name, schema)
        properties[name] = schema if known == schema else _any_of(known, schema)
    required = [name for name in _names(one) if name in _names(other)]
    return _joined({}, properties, required)


def _any_of(known: Any, schema: Any) -> Any:
    choices = known["anyOf"] if isinstance(known, Mapping) and set(known) == {"anyOf"} else [known]
    return {"anyOf": [*choices, *([] if schema in choices else [schema])]}


def _joined(schema: Schema, properties: Schema, required: Sequence[str]) -> dict[str, Any]:
    # What the part that is joined says of other properties does not hold for the whole.
    kept = {name: value for name, value in schema.items() if name not in ("required", "additionalProperties")}
    return {**kept, "properties": properties, **({"required": required} if required else {})}


def _target(reference: str, root: Schema) -> Schema:
    """Return the schema in `root` that a local reference names; empty if there is none."""
    found: Any = root
    if reference == "#":
        return root
    for name in reference.removeprefix("#/").split("/"):
        found = _mapping(found).get(name.replace("~1", "/").replace("~0", "~"))
    return _mapping(found)


def _objects(value: Any) -> list[Schema]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _names(schema: Schema) -> list[str]:
    required = schema.get("required")
    return [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
