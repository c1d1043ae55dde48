"""Normalises the schemas of tools: JSON Schema of draft 2020-12, whatever draft or dialect the server writes. Pure.

A keyword whose value has the wrong type is left out, since model servers refuse a request for one such keyword.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from llm_worker.request.parameter_schema import LISTS, NAMED, SCHEMAS

_TYPES: Final = ("string", "number", "integer", "boolean", "object", "array", "null")
_COMBINATIONS: Final = ("allOf", "anyOf", "oneOf")
_NUMBERS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_COUNTS: Final = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value)


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


_VALID: Final[Mapping[str, Callable[[Any], bool]]] = {
    **dict.fromkeys(SCHEMAS, lambda value: isinstance(value, dict | bool)),
    **dict.fromkeys(LISTS, _is_list),
    **dict.fromkeys(NAMED, lambda value: isinstance(value, dict)),
    **dict.fromkeys(_NUMBERS, _is_number),
    **dict.fromkeys(_COUNTS, lambda value: isinstance(value, int) and _is_number(value) and value >= 0),
    "multipleOf": lambda value: _is_number(value) and value > 0,
    **dict.fromkeys(("description", "title", "format", "pattern", "$ref"), lambda value: isinstance(value, str)),
    # Another dialect is converted.
    "$schema": lambda value: isinstance(value, str) and "2020-12" in value,
    "enum": _is_list,
    "required": _are_names,
    "uniqueItems": lambda value: isinstance(value, bool),
}  # fmt: skip


def normal_parameters(schema: Any) -> dict[str, Any] | None:
    """Return the schema of a tool's arguments, which are an object; a missing schema allows any.
    None: it is the schema of something else.
    """
    normal = _normal(schema) if isinstance(schema, dict) else {}
    types = _types_of(normal) or ["object"]
    return {**normal, "type": "object"} if "object" in types else None


def current_form(schema: dict[str, Any]) -> dict[str, Any]:
    """Convert the types, bounds and `nullable` of older drafts and of OpenAPI 3.0. The schemas inside stay as they are."""
    for exclusive, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(schema.get(exclusive), bool):
            is_exclusive = schema.pop(exclusive)
            if is_exclusive and bound in schema:
                schema[exclusive] = schema.pop(bound)
    if "type" in schema:
        types = _types_of(schema)
        del schema["type"]
        if types:
            schema["type"] = types if len(types) > 1 else types[0]
    return _with_null(schema) if schema.pop("nullable", None) is True else schema


def _with_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema, which allows null as well."""
    if any(keyword in schema for keyword in (*_COMBINATIONS, "$ref", "not", "const")):
        described = {"description": schema.pop("description")} if "description" in schema else {}
        return {"anyOf": [schema, {"type": "null"}], **described}
    types = _types_of(schema)
    if types and "null" not in types:
        schema["type"] = [*types, "null"]
    if "enum" in schema and None not in schema["enum"]:
        schema["enum"] = [*schema["enum"], None]
    return schema


def _types_of(schema: Mapping[str, Any]) -> list[str]:
    named = schema.get("type")
    spelled = [
        name.lower() for name in (named if isinstance(named, list) else [named]) if isinstance(name, str)
    ]
    return [name for name in dict.fromkeys(spelled) if name in _TYPES]  # fmt: skip


def _normal(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return schema if isinstance(schema, bool) else {}
    schema = _with_required(_with_positions(schema))
    normal = {
        keyword: _inside(keyword, value) for keyword, value in schema.items() if _is_valid(keyword, value)
    }
    return current_form(normal)


def _inside(keyword: str, value: Any) -> Any:
    if keyword in NAMED:
        return {name: _normal(inner) for name, inner in value.items()}
    if keyword in LISTS:
        return [_normal(inner) for inner in value]
    return _normal(value) if keyword in SCHEMAS else value


def _is_valid(keyword: str, value: Any) -> bool:
    is_old_bound = keyword in ("exclusiveMinimum", "exclusiveMaximum") and isinstance(value, bool)
    return is_old_bound or keyword not in _VALID or _VALID[keyword](value)


def _with_positions(schema: dict[str, Any]) -> dict[str, Any]:
    """Convert schemas of positions, which `items` had before draft 2020-12."""
    if not isinstance(schema.get("items"), list):
        return schema
    rest = {"items": schema["additionalItems"]} if "additionalItems" in schema else {}
    others = {name: value for name, value in schema.items() if name not in ("items", "additionalItems")}
    return {**others, "prefixItems": schema["items"], **rest}


def _with_required(schema: dict[str, Any]) -> dict[str, Any]:
    """Convert `required: true` of properties, as draft 3 has it."""
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return schema
    marked = [
        name
        for name, inner in properties.items()
        if isinstance(inner, dict) and inner.get("required") is True
    ]
    named = schema["required"] if _are_names(schema.get("required")) else []
    return {**schema, "required": list(dict.fromkeys([*named, *marked]))} if marked else schema
