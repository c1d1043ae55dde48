"""Checks the arguments of a tool call against the tool's JSON Schema, and reads them as models mean them. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match
from jsonschema.validators import extend
from referencing import Registry


def _skip(*_: object) -> Iterator[ValidationError]:
    return iter(())


# Schemas may come from servers, whose own check counts: keywords that can take exponential time are left to it.
_SKIPPED: Final = ("pattern", "patternProperties", "$ref", "$dynamicRef")
# Values that are nested deeper are left as they are.
_MAX_DEPTH: Final = 16
_Validator: Final[Any] = extend(Draft202012Validator, dict.fromkeys(_SKIPPED, _skip))  # type: ignore[no-untyped-call]


def first_violation(arguments: Mapping[str, Any], parameters: Mapping[str, Any]) -> ValidationError | None:
    """Return the most telling violation; None: the arguments match, or the schema is bad. parameters: the schema."""
    # An empty registry, so that a schema cannot make the validator fetch another one.
    validator = _Validator(dict(parameters), registry=Registry())
    try:
        violation: ValidationError | None = best_match(validator.iter_errors(dict(arguments)))
    except Exception:  # noqa: BLE001  jsonschema raises whatever a malformed schema leads to
        return None
    return violation


def as_wanted(arguments: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments that violate the schema as their model means them, as far as it can be told.

    Models write JSON of the wanted type, numbers and booleans as texts, and null for what they leave out. What is a text
    where a text is wanted stays one.
    """
    wanted = _wanted(dict(arguments), parameters, _MAX_DEPTH)
    return wanted if isinstance(wanted, dict) else dict(arguments)


def _wanted(value: Any, schema: Any, depth: int) -> Any:
    if not isinstance(schema, Mapping) or not depth or _fits(value, schema):
        return value
    match value:
        case str():
            parsed = _parsed(value)
            inner = parsed if isinstance(parsed, str) else _wanted(parsed, schema, depth - 1)
            return inner if _fits(inner, schema) else value
        case list():
            return [_wanted(each, schema.get("items"), depth - 1) for each in value]
        case dict():
            return _wanted_members(value, schema, depth)
    return value


def _wanted_members(value: dict[str, Any], schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, Mapping):
        return value
    needed = required if isinstance(required, list) else []
    return {
        name: _wanted(inner, properties.get(name), depth - 1)
        for name, inner in value.items()
        if inner is not None or name in needed or name not in properties or _fits(None, properties[name])
    }


def _fits(value: Any, schema: Any) -> bool:
    return first_violation({"": value}, {"properties": {"": schema}}) is None


def _parsed(text: str) -> Any:
    """Return the JSON that a text is, or the text."""
    is_of_python = text.strip() in ("True", "False", "None")
    try:
        parsed = msgspec.json.decode(text.lower().replace("none", "null") if is_of_python else text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return text
    is_exact = isinstance(parsed, float) and parsed.is_integer() and abs(parsed) < 2**53
    return int(parsed) if is_exact else parsed
