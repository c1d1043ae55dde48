"""Strict decoding of JSON from clients: rejects what is ambiguous or cannot be stored. Pure.

Used for request bodies and websocket frames.
"""

import json
import re
from typing import Any, Final

from chat.protocol.errors import ApiError

MAX_DEPTH: Final = 100
# Postgres stores no NUL, UTF-8 no lone surrogate.
_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")


def decode(data: bytes | str) -> dict[str, Any]:
    """One JSON object. Raises ApiError."""
    try:
        text = data if isinstance(data, str) else data.decode("utf-8")
    except UnicodeDecodeError:
        raise ApiError("invalid_encoding") from None
    try:
        value = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_without_repeats)
    except RecursionError:
        raise ApiError("json_too_deep") from None
    except ValueError:
        raise ApiError("invalid_json") from None
    _check(value)
    if not isinstance(value, dict):
        raise ApiError("invalid_type", "The body must be a JSON object.")
    return value


def is_storable(text: str) -> bool:
    return not _UNSTORABLE.search(text)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a name is given twice")
    return value


def _check(value: Any) -> None:
    """Every text at every level, without recursion."""
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
