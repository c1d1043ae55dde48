"""Parses the JSON file of a session strictly; every error names the member's path. Pure."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import msgspec

from chat.protocol.errors import ApiError
from chat.sessions.portable import tree_rules
from chat.sessions.portable.format import Portable

_PATH: Final = re.compile(r" - at `\$(.*)`$")
_INDEX: Final = re.compile(r"\[(\d+)\]")
_UNKNOWN: Final = re.compile(r"^Object contains unknown field `(.*?)`", re.DOTALL)
_MISSING: Final = re.compile(r"^Object missing required field `(.*?)`", re.DOTALL)
# A wrong type reads "Expected `int`, got `str`"; a wrong value of the right type reads "Expected `int` >= 0".
_TYPE: Final = re.compile(r"^Expected .*, got `")


def parse(data: Mapping[str, Any], now: datetime) -> Portable:
    """Parse the decoded JSON. The result fulfils all constraints of the database. Raises ApiError."""
    try:
        portable = msgspec.convert(data, Portable)
    except msgspec.ValidationError as error:
        raise _api_error(str(error)) from None
    tree_rules.check(portable.messages, now)
    return portable


def _api_error(message: str) -> ApiError:
    """Convert a message of msgspec to an ApiError."""
    path = _PATH.search(message)
    place = _INDEX.sub(r".\1", path[1]).replace("[...]", "").strip(".") if path else ""
    for code, pattern in (("unknown_field", _UNKNOWN), ("field_required", _MISSING)):
        if found := pattern.search(message):
            return ApiError(code, field=f"{place}.{found[1][:100]}".strip("."))
    return ApiError("invalid_type" if _TYPE.search(message) else "invalid_value", field=place or None)
