"""Strict decoding of JSON from clients: rejects what is ambiguous or cannot be stored. Pure.

Used for request bodies and websocket frames.
"""

import json
import re
from math import isfinite
from typing import Any, Final, TypeVar

from chat.protocol.errors import ApiError

T = TypeVar("T")

MAX_DEPTH: Final = 100
# Values of one body or frame; each takes about 100 bytes of memory, however short its text is.
MAX_VALUES: Final = 200_000
# A text without an end is taken to the end of the body, so that no character is read twice.
_TEXT: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
# Postgres stores no NUL, UTF-8 no lone surrogate.
_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")
# The same in JSON Schema, where a lone surrogate is no character.
UNSTORABLE_PATTERN: Final = r"\u0000"


def decode(data: bytes | str, *, max_values: int = MAX_VALUES) -> dict[str, Any]:
    """Decode one JSON object of at most this many values, names of members not counted. Raises ApiError."""
    try:
        text = data if isinstance(data, str) else data.decode("utf-8")
    except UnicodeDecodeError:
        raise ApiError("invalid_encoding") from None
    if len(text) > max_values and count_values(text) > max_values:
        raise ApiError("body_too_large", "The body holds too many values.", limit=max_values)
    try:
        value = json.loads(
            text, parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=_without_repeats
        )
    except RecursionError:
        raise ApiError("json_too_deep") from None
    except ValueError:
        raise ApiError("invalid_json") from None
    _check(value)
    if not isinstance(value, dict):
        raise ApiError("invalid_type", "The body must be a JSON object.")
    return value


def count_values(text: str) -> int:
    """Return at least the number of values in valid JSON, without decoding it; empty objects and arrays count twice."""
    structure = _TEXT.sub("", text)
    return 1 + sum(structure.count(one) for one in ",[{")


def is_storable(text: str) -> bool:
    return not _UNSTORABLE.search(text)


def storable(value: T, max_depth: int = MAX_DEPTH) -> T:
    """Replace what cannot be stored in a text, or in decoded JSON, by a character: for input that nobody can mend.

    Raises ApiError if it is nested deeper than `max_depth`.
    """
    if max_depth < 0:
        raise ApiError("json_too_deep")
    replaced: Any = value
    if isinstance(value, str):
        replaced = _UNSTORABLE.sub("\ufffd", value)
    elif isinstance(value, dict):
        replaced = {storable(name): storable(one, max_depth - 1) for name, one in value.items()}
    elif isinstance(value, list | tuple):
        replaced = [storable(one, max_depth - 1) for one in value]
    return replaced  # type: ignore[no-any-return]


def measured_storable(value: T) -> tuple[T, int] | None:
    """Return the storable() value, and its length as JSON, in characters. None: it is no JSON, or nested too deep."""
    try:
        stored = storable(value)
        return stored, len(json.dumps(stored, ensure_ascii=False, allow_nan=False))
    except (ValueError, TypeError, RecursionError, ApiError):
        return None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    """Refuse numbers such as 1e400: infinity, as which they are read, can be neither stored nor sent back."""
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"{text[:20]} is too large")
    return number


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a name is given twice")
    return value


def _check(value: Any) -> None:
    """Check every text at every level, without recursion."""
    level: list[Any] = [value]
    depth = 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise ApiError("json_too_deep")
        inner: list[Any] = []
        for one in level:
            if isinstance(one, str) and not is_storable(one):
                raise ApiError("invalid_characters")
            if isinstance(one, dict):
                inner += [*one.keys(), *one.values()]
            elif isinstance(one, list):
                inner += one
        level = inner
