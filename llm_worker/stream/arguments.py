"""Parses the arguments of a tool call as models write them. Pure; does not validate against a schema."""

import json
import math
from collections.abc import Mapping
from typing import Any, Final

from pydantic_core import from_json

from llm_worker.stream.sanitiser import clean

# As JSON, of the members that a server wants back. Signatures take some thousand characters.
MAX_MEMBERS_CHARACTERS: Final = 256 * 1024
# Several functions that copy the members recurse at each level.
MAX_MEMBERS_DEPTH: Final = 32


def parse_arguments(raw: str) -> dict[str, Any] | None:
    """Return the JSON object in `raw`, even if it is JSON written into a JSON string; None: there is none.

    An empty text is an empty object. Characters that Postgres cannot store are replaced; infinite numbers give None.
    """
    try:
        value = _loads(raw) if raw.strip() else {}
        if isinstance(value, str):
            value = _loads(value)
        value = _storable({} if value is None else value)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def parse_partial_arguments(raw: str) -> dict[str, Any]:
    """Parse as much as possible of arguments that were not completed; empty if nothing can be parsed."""
    try:
        value = _storable(from_json(raw, allow_inf_nan=False, allow_partial="trailing-strings"))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def storable_members(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members as they can be stored.
    Empty if they cannot, are longer than MAX_MEMBERS_CHARACTERS, or are nested deeper than MAX_MEMBERS_DEPTH.
    """
    if not members or _is_deeper(members, MAX_MEMBERS_DEPTH):
        return {}
    encoded = json.dumps(members)
    return (parse_arguments(encoded) or {}) if len(encoded) <= MAX_MEMBERS_CHARACTERS else {}


def _loads(text: str) -> Any:
    # strict=False: models put unescaped line breaks into strings.
    return json.loads(text, strict=False, parse_constant=_refuse)


def _is_deeper(value: Any, limit: int) -> bool:
    """Return whether lists and objects are nested in more than `limit` levels."""
    if not isinstance(value, Mapping | list):
        return False
    inner = value.values() if isinstance(value, Mapping) else value
    return not limit or any(_is_deeper(each, limit - 1) for each in inner)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _storable(value: Any) -> Any:
    """Replace NUL and lone surrogates in a value. Raises ValueError for an infinite number."""
    match value:
        case str():
            return clean(value)
        case dict():
            return {_storable(key): _storable(each) for key, each in value.items()}
        case list():
            return [_storable(each) for each in value]
        case float() if math.isinf(value):
            raise ValueError("an infinite number")
        case _:
            return value
