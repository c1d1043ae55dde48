"""A session's JSON file as values: strict, and every refusal names its place. Pure."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import msgspec

from chat.protocol.errors import ApiError
from chat.sessions.portable import rules
from chat.sessions.portable.format import Portable

_PATH: Final = re.compile(r" - at `\$(.*)`$")
_INDEX: Final = re.compile(r"\[(\d+)\]")
_UNKNOWN: Final = re.compile(r"^Object contains unknown field `(.*?)`", re.DOTALL)
_MISSING: Final = re.compile(r"^Object missing required field `(.*?)`", re.DOTALL)
# "Expected `int`, got `str`"; what is of the right type and still refused reads "Expected `int` >= 0".
_TYPE: Final = re.compile(r"^Expected .*, got `")


def read(given: Mapping[str, Any], now: datetime) -> Portable:
    """given: the parsed file. What is returned can be stored. Raises ApiError."""
    try:
        portable = msgspec.convert(given, Portable)
    except msgspec.ValidationError as error:
        raise _refusal(str(error)) from None
    rules.check(portable.messages, now)
    return portable


def _refusal(said: str) -> ApiError:
    """What msgspec says, in our words."""
    path = _PATH.search(said)
    place = _INDEX.sub(r".\1", path[1]).replace("[...]", "").strip(".") if path else ""
    for code, pattern in (("unknown_field", _UNKNOWN), ("field_required", _MISSING)):
        if found := pattern.search(said):
            return ApiError(code, field=f"{place}.{found[1][:100]}".strip("."))
    return ApiError("invalid_type" if _TYPE.search(said) else "invalid_value", field=place or None)
